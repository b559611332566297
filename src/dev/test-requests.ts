import type { User } from '../accounts/accounts.ts'
import { isScope, type Scope, SCOPES } from '../api-keys/api-keys.ts'
import { jsonBody, optional, text, textList } from '../api/v2/json-body.ts'
import { readJson } from '../http/body/json.ts'
import { createCookieWriter } from '../http/cookie-writer.ts'
import { createCookieTable } from '../http/cookies.ts'
import { createCsrfTokens } from '../http/csrf-token.ts'
import type { HttpResponse } from '../http/response.ts'
import type { Core } from '../core.ts'
import { type Email, readEmail } from '../lib/email-address.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import { parseDuration, toTimestamp } from '../lib/time.ts'
import { amrOf } from '../sign-in/amr.ts'
import { type DevRequest, jsonOf } from './exchange.ts'
import { DEV_PROVIDER } from './given.ts'
import type { MovableClock } from './movable-clock.ts'

import type { DevService } from './running-service.ts'
import { connectTo } from './seed.ts'

const read = <Values>(body: { read: (json: Record<string, unknown>) => Values }, request: DevRequest): Values =>
  body.read(request.body.length === 0 ? {} : readJson(request.body, 'application/json', undefined))

const refuse = (field: string, message: string): never => {
  throw new AppError('unprocessable', message, { field })
}

const SIGN_IN = jsonBody({ email: text() })

/** Starts a session for the user of an email, whose account is made where there is none, and sets its cookies. */
export const signIn = async (service: DevService, request: DevRequest): Promise<HttpResponse> => {
  const { core, rootSecret } = service
  const { email: given } = read(SIGN_IN, request)
  const email =
    readEmail(given) ?? refuse('email', 'The field "email" must be an email address, such as ada@example.com.')
  const user = (await core.users.find(email.lower)) ?? (await createUser(core, email, request))
  if (user.disabled) throw new AppError('conflict', `The account of ${user.email} is disabled.`, { field: 'email' })
  const { tokens, browserSecret } = await startSession(core, user, request)
  const settings = { baseUrl: core.baseUrl, cookiePrefix: false }
  const cookieTable = createCookieTable(settings)
  const writer = createCookieWriter({ ...settings, cookieTable })
  const csrfToken = createCsrfTokens(rootSecret).make(tokens.sessionId)
  const cookies = [...writer.session(tokens, csrfToken), writer.device(browserSecret)]
  const { id, username, roles } = user
  return {
    ...jsonOf({ user: { id, email: user.email, username, roles }, cookie: cookieHeaderOf(cookies) }),
    headers: cookies.flatMap((cookie) => ['set-cookie', cookie]),
  }
}

/** The account is that of a user who has signed in with the provider of `svc dev`, which has verified the address. */
const createUser = ({ users, clock }: Core, email: Email, { device }: DevRequest): Promise<User> => {
  const [name = ''] = email.shown.split('@')
  const profile = { email, name, provider: DEV_PROVIDER.name }
  return users.createFromProfile(profile, connectTo(email.lower, clock), { device })
}

const startSession = async (core: Core, user: User, { device }: DevRequest) => {
  const { sessions, knownBrowsers, clock, users } = core
  const byPassword = await users.hasPassword(user.id)
  const grant = {
    userId: user.id,
    authenticatedAtMs: clock.now(),
    amr: amrOf(byPassword ? 'password' : 'provider'),
    ...(!byPassword && { provider: DEV_PROVIDER.name }),
    isStillValid: async () => true,
  }
  let browserSecret = ''
  const tokens = await sessions.start(
    grant,
    { device },
    {
      login: { method: byPassword ? 'password' : DEV_PROVIDER.name },
      recogniseBrowser: async (transaction) => {
        const { secret, deviceHash } = await knownBrowsers.recordSignIn(transaction, user.id, undefined)
        browserSecret = secret
        return deviceHash
      },
    },
  )
  if (tokens) return { tokens, browserSecret }
  throw new AppError('conflict', `The account of ${user.email} was deleted at this moment.`, { field: 'email' })
}

/** What a browser sends to the application: the cookies of the path `/`. */
const cookieHeaderOf = (cookies: readonly string[]): string =>
  cookies
    .map((cookie) => cookie.split('; '))
    .flatMap(([pair = '', ...attributes]) => (attributes.includes('Path=/') ? [pair] : []))
    .join('; ')

const FORWARD = jsonBody({ forward: text() })

const MOST_AHEAD_MS = 100 * 365 * 24 * 3_600_000

/** Moves the clock of the service, which the application does not share. */
export const moveClock = (clock: MovableClock, request: DevRequest): HttpResponse => {
  const ms = parseDuration(read(FORWARD, request).forward)
  if (ms === undefined || clock.aheadMs() + ms > MOST_AHEAD_MS)
    return refuse(
      'forward',
      'The field "forward" must be a duration such as 15m, 1h30m or 720h, at most 100 years in all.',
    )
  clock.forward(Math.ceil(ms))
  return jsonOf({ now: toTimestamp(clock.now()) })
}

const NEW_KEY = jsonBody({ scopes: optional(textList()) })

/** Makes another API key, with fewer scopes than the one that was printed has. */
export const createApiKey = async ({ apiKeys }: Core, request: DevRequest): Promise<HttpResponse> => {
  const { scopes = [...SCOPES] } = read(NEW_KEY, request)
  const accepted = scopes.filter((scope): scope is Scope => isScope(scope))
  if (accepted.length === 0 || accepted.length < scopes.length)
    return refuse('scopes', `The field "scopes" must be a list of ${SCOPES.join(', ')}.`)
  const { text: apiKey } = await apiKeys.create({
    name: `dev-${randomToken(6)}`,
    scopes: accepted,
    lifetimeMs: undefined,
  })
  return jsonOf({ api_key: apiKey, scopes: accepted })
}
