import { type AuthenticatedKey, type Keep, type Kept, requireScope } from '../../api-keys/api-keys.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type ContentResponse, type HttpResponse, json, noContent } from '../../http/response.ts'
import type { Documentation } from '../../http/route.ts'
import { failure } from '../schemas.ts'
import { flag, jsonBody, nullable, optional, text, textList } from './json-body.ts'
import { refToV2 } from './schemas.ts'
import { AppError } from '../../lib/errors.ts'
import { readUserQuery, USER_QUERY_PARAMETERS } from './user-query.ts'
import type { UserChanges } from '../../accounts/administration.ts'
import type { AccountEventName } from '../../lib/account-event.ts'
import type { UserChange } from '../../lib/user-change.ts'
import type { DirectoryUser } from '../../accounts/directory/directory.ts'
import { toTimestamp } from '../../lib/time.ts'

const NEW_USER = jsonBody({
  email: text(),
  username: optional(text({ description: 'Made from the email when left out' })),
  name: optional(nullable(text({ description: 'Of the person. Not with `SVC_NAMES=off`' }))),
  language: optional(nullable(text({ description: 'Of their messages (BCP 47), such as `de`' }))),
  roles: optional(textList()),
  password: optional(text({ description: 'The rules for new passwords apply' })),
  password_hash: optional(text({ description: 'In place of a password, of svc or of another system' })),
  email_verified: optional(flag({ description: "You vouch for it that the address is the user's" })),
  invite: optional(flag({ description: 'Makes a link with which the user chooses a password' })),
})

type CreateUserDeps = Pick<Services, 'directory' | 'accountLog'>

/** Answers `POST /auth/api/v2/users` (CONTRACT.md 10.5). */
const createCreateUser = ({ directory, accountLog }: CreateUserDeps) => ({
  documentation: {
    operationId: 'createUser',
    summary: 'Makes an account, which exists at once',
    tag: 'Users',
    body: NEW_USER,
    responses: {
      201: { description: 'The user', schema: refToV2('CreatedUser') },
      409: failure('`conflict`: the email or the username is taken'),
      422: failure('`unprocessable`: a field is not accepted'),
    },
  } satisfies Documentation,

  handle(context: RequestContext, _key: AuthenticatedKey, keep: Keep<ContentResponse>): Promise<Kept<ContentResponse>> {
    const { password_hash: passwordHash, email_verified: emailVerified, ...rest } = NEW_USER.read(context.json)
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

/** Answers `GET /auth/api/v2/users/{id}` (CONTRACT.md 10.5). */
const createFindUser = ({ directory }: Pick<Services, 'directory'>) => ({
  documentation: {
    operationId: 'findUser',
    summary: 'One user',
    tag: 'Users',
    responses: {
      200: { description: 'The user', schema: refToV2('User') },
      404: failure('`not_found`: there is no such user'),
    },
  } satisfies Documentation,

  async handle({ parameters: { id = '' } }: RequestContext): Promise<HttpResponse> {
    const user = await directory.find(id)
    if (!user) throw new AppError('not_found', 'There is no such user.')
    return json(200, JSON.stringify(directoryUserToJson(user)))
  },
})

/** Answers `DELETE /auth/api/v2/users/{id}` (CONTRACT.md 10.5). */
const createDeleteUser = ({ users, accountLog }: Pick<Services, 'users' | 'accountLog'>) => ({
  documentation: {
    operationId: 'deleteUser',
    summary: 'Deletes a user, whose sessions end',
    tag: 'Users',
    responses: { 204: { description: 'There is no such user any more' } },
  } satisfies Documentation,

  async handle(context: RequestContext): Promise<HttpResponse> {
    const { id = '' } = context.parameters
    if (await users.delete(id, context)) accountLog.record(context, { event: 'account_delete', userId: id })
    return noContent
  },
})

/** Answers `GET /auth/api/v2/users` (CONTRACT.md 10.5). */
const createListUsers = ({ directory }: Pick<Services, 'directory'>) => ({
  documentation: {
    operationId: 'listUsers',
    summary: 'Users, in the order in which svc got to know them',
    tag: 'Users',
    parameters: USER_QUERY_PARAMETERS,
    responses: {
      200: { description: 'A page; the last one has no cursor', schema: refToV2('UserList') },
      400: failure('`invalid_request`: a parameter is not accepted'),
      422: failure('`unprocessable`: no user was found in the time of a search, which must be more exact'),
    },
  } satisfies Documentation,

  async handle({ query }: RequestContext): Promise<HttpResponse> {
    const { users, nextCursor = null } = await directory.list(readUserQuery(query))
    return json(200, JSON.stringify({ users: users.map(directoryUserToJson), next_cursor: nextCursor }))
  },
})

const NEEDS_CREDENTIALS = 'Needs the scope `credentials:write` too'

const CHANGES = jsonBody({
  email: optional(text({ description: `${NEEDS_CREDENTIALS}. Not verified unless \`email_verified\` says so` })),
  stolen: optional(
    flag({
      description:
        'With `email` only, and by default where the account is disabled: whether its other addresses may be a thief’s. No message with a link undoes this change or an earlier one, and every session ends',
    }),
  ),
  username: optional(text()),
  name: optional(nullable(text({ description: 'null takes it away, unless names are required' }))),
  language: optional(nullable(text({ description: 'Of their messages (BCP 47), such as `de`; null: not known' }))),
  roles: optional(textList({ description: 'In place of those that the user has' })),
  disabled: optional(flag({ description: 'Disabling ends every session' })),
  email_verified: optional(flag({ description: NEEDS_CREDENTIALS })),
})

type ChangeUserDeps = Pick<Services, 'directory' | 'accountLog'>

/** Answers `PATCH /auth/api/v2/users/{id}` (CONTRACT.md 10.5). */
const createChangeUser = ({ directory, accountLog }: ChangeUserDeps) => ({
  documentation: {
    operationId: 'changeUser',
    summary: 'Changes what is given, all of it or nothing',
    tag: 'Users',
    body: CHANGES,
    responses: {
      200: { description: 'The user', schema: refToV2('User') },
      404: failure('`not_found`: there is no such user'),
      409: failure('`conflict`: the email or the username is taken'),
      422: failure('`unprocessable`: a field is not accepted'),
    },
  } satisfies Documentation,

  async handle(context: RequestContext, key: AuthenticatedKey): Promise<HttpResponse> {
    const { id = '' } = context.parameters
    const { email_verified: emailVerified, ...rest } = CHANGES.read(context.json)
    const changes: UserChanges = { ...rest, emailVerified }
    if (changes.email !== undefined || emailVerified !== undefined) requireScope(key, 'credentials:write')
    const { user, changed } = await directory.change(id, changes, context)
    for (const event of eventsOf(changed, user.disabled)) accountLog.record(context, { event, userId: id })
    return json(200, JSON.stringify(directoryUserToJson(user)))
  },
})

/** These are the same events as for the same changes by command. */
const eventsOf = (changed: UserChange[], disabled: boolean): AccountEventName[] => {
  const events: Record<UserChange, AccountEventName> = {
    email: 'email_change',
    username: 'username_change',
    name: 'name_change',
    language: 'language_change',
    roles: 'roles_change',
    disabled: disabled ? 'account_disable' : 'account_enable',
    email_verified: 'email_verification',
  }
  // A new address is verified or not: that is part of its change.
  const told = changed.includes('email') ? changed.filter((each) => each !== 'email_verified') : changed
  return told.map((each) => events[each])
}

/** CONTRACT.md 10.5 describes the user of the server API. */
const directoryUserToJson = (user: DirectoryUser) => ({
  id: user.id,
  email: user.email,
  username: user.username,
  name: user.name,
  roles: user.roles,
  disabled: user.disabled,
  created_at: toTimestamp(user.createdAtMs),
  language: user.language,
  email_verified: user.emailVerifiedAtMs !== undefined,
  updated_at: toTimestamp(user.updatedAtMs),
  last_seen_at: user.lastSeenAtMs === undefined ? null : toTimestamp(user.lastSeenAtMs),
  has_password: user.hasPassword,
  identities: user.identities.map(({ provider, issuer, subject, email = null }) => ({
    provider,
    issuer,
    subject,
    email,
  })),
  second_factors: user.hasCodes ? ['totp'] : [],
  passkeys: user.passkeys,
})

/** CONTRACT.md 10.5 describes these routes. */
export const createUserRoutes = (deps: Pick<Services, 'accountLog' | 'directory' | 'users'>) => ({
  list: createListUsers(deps),
  create: createCreateUser(deps),
  find: createFindUser(deps),
  change: createChangeUser(deps),
  delete: createDeleteUser(deps),
})
