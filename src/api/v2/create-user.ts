import type { AuthenticatedKey, Keep, Kept } from '../../api-keys/api-keys.ts'
import type { DirectoryDeps } from '../../http/deps.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type ContentResponse, json } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { flag, jsonBody, optional, text, textList } from './json-body.ts'
import { refToV2 } from './schemas.ts'
import { directoryUserToJson } from './user-json.ts'

const BODY = jsonBody({
  email: text(),
  username: optional(text({ description: 'Made from the email when left out' })),
  roles: optional(textList()),
  password: optional(text({ description: 'The rules for new passwords apply' })),
  password_hash: optional(text({ description: 'In place of a password, of svc or of another system' })),
  email_verified: optional(flag({ description: "You vouch for it that the address is the user's" })),
  invite: optional(flag({ description: 'Makes a link with which the user chooses a password' })),
})

type CreateUserDeps = Pick<DirectoryDeps, 'directory' | 'accountLog'>

/** `POST /auth/api/v2/users` (CONTRACT.md 10.5). */
export const createCreateUser = ({ directory, accountLog }: CreateUserDeps) => ({
  documentation: {
    operationId: 'createUser',
    summary: 'Makes an account, which exists at once',
    tag: 'Users',
    body: BODY,
    responses: {
      201: { description: 'The user', schema: refToV2('CreatedUser') },
      409: failure('`conflict`: the email or the username is taken'),
      422: failure('`unprocessable`: a field is not accepted'),
    },
  } satisfies Documentation,

  handle(context: RequestContext, _key: AuthenticatedKey, keep: Keep<ContentResponse>): Promise<Kept<ContentResponse>> {
    const { password_hash: passwordHash, email_verified: emailVerified, ...rest } = BODY.read(context.json)
    const given = { ...rest, passwordHash, emailVerified }
    const event = given.invite ? 'account_invite' : 'account_create'
    return accountLog.recordOutcome(context, { event, email: given.email }, (facts) =>
      directory.create(given, context, (transaction, { user, inviteUrl }) => {
        facts.userId = user.id
        const body = { ...directoryUserToJson(user), ...(inviteUrl !== undefined && { invite_url: inviteUrl }) }
        return keep(transaction, json(201, JSON.stringify(body)))
      }),
    )
  },
})
