import type { AuthenticatedKey } from '../../api-keys/api-key.ts'
import { requireScope } from '../../api-keys/scopes.ts'
import type { UserChanges } from '../../accounts/directory/checked-changes.ts'
import type { AccountEventName } from '../../lib/account-event.ts'
import type { UserChange } from '../../lib/user-change.ts'
import type { DirectoryDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { flag, jsonBody, optional, text, textList } from './json-body.ts'
import { refToV2 } from './schemas.ts'
import { directoryUserToJson } from './user-json.ts'

const NEEDS_CREDENTIALS = 'Needs the scope `credentials:write` too'

const BODY = jsonBody({
  email: optional(text({ description: `${NEEDS_CREDENTIALS}. Not verified unless \`email_verified\` says so` })),
  stolen: optional(
    flag({
      description:
        'With `email` only, and by default where the account is disabled: whether its other addresses may be a thief’s. No message with a link undoes this change or an earlier one, and every session ends',
    }),
  ),
  username: optional(text()),
  roles: optional(textList({ description: 'In place of those that the user has' })),
  disabled: optional(flag({ description: 'Disabling ends every session' })),
  email_verified: optional(flag({ description: NEEDS_CREDENTIALS })),
})

type ChangeUserDeps = Pick<DirectoryDeps, 'directory' | 'accountLog'>

/** `PATCH /auth/api/v2/users/{id}` (CONTRACT.md 10.5). */
export const createChangeUser = ({ directory, accountLog }: ChangeUserDeps) => ({
  documentation: {
    operationId: 'changeUser',
    summary: 'Changes what is given, all of it or nothing',
    tag: 'Users',
    body: BODY,
    responses: {
      200: { description: 'The user', schema: refToV2('User') },
      404: failure('`not_found`: there is no such user'),
      409: failure('`conflict`: the email or the username is taken'),
      422: failure('`unprocessable`: a field is not accepted'),
    },
  } satisfies Documentation,

  async handle(context: RequestContext, key: AuthenticatedKey): Promise<HttpResponse> {
    const { id = '' } = context.parameters
    const { email_verified: emailVerified, ...rest } = BODY.read(context.json)
    const changes: UserChanges = { ...rest, emailVerified }
    if (changes.email !== undefined || emailVerified !== undefined) requireScope(key, 'credentials:write')
    const { user, changed } = await directory.change(id, changes, context)
    for (const event of eventsOf(changed, user.disabled)) accountLog.record(context, { event, userId: id })
    return json(200, JSON.stringify(directoryUserToJson(user)))
  },
})

/** The same events as for the same changes by command. */
const eventsOf = (changed: UserChange[], disabled: boolean): AccountEventName[] => {
  const events: Record<UserChange, AccountEventName> = {
    email: 'email_change',
    username: 'username_change',
    roles: 'roles_change',
    disabled: disabled ? 'account_disable' : 'account_enable',
    email_verified: 'email_verification',
  }
  // A new address is verified or not: that is part of its change.
  const told = changed.includes('email') ? changed.filter((each) => each !== 'email_verified') : changed
  return told.map((each) => events[each])
}
