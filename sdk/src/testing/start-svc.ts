import { type Admin, createAdmin } from '../admin.ts'
import { createUser, type NewUser, readSignIn, type SignedIn, type TestUser } from './accounts.ts'
import type { Arrivals } from './arrivals.ts'
import { type Environment, type Message, type ReceivedWebhook, startDevProcess } from './dev-process.ts'
import { findSvc } from './find-svc.ts'

/** A scope of the server API. */
export type Scope =
  | 'users:read'
  | 'users:write'
  | 'credentials:write'
  | 'sessions:read'
  | 'sessions:write'
  | 'audit:read'
  | 'clients:read'
  | 'clients:write'
  | 'tokens:introspect'

export interface StartSvcOptions {
  /** The origin of the application: svc then serves both as one origin, for tests in a browser. */
  app?: string
  /** The receiver of the application: events are passed on there. */
  webhook?: string
  /** The port of svc; a free one where it is left out. */
  port?: number
  /** Settings of svc, as in its documentation. Address, database, secret, mail, webhooks and keys are its own. */
  env?: Environment
}

/** A real svc with an empty database of its own, for tests. */
export interface TestSvc extends AsyncDisposable {
  /** Where it answers: the value of `SVC_URL`; with `app`, the application too. */
  url: string
  /** A key of the server API with all scopes: the value of `SVC_API_KEY`. */
  apiKey: string
  /** The secret of its events: the value of `SVC_WEBHOOK_SECRET`. */
  webhookSecret: string
  /** The server API, as `createAdmin` of `@svc/sdk/admin` with that key. */
  admin: Admin
  /** Creates an account; what is left out is made up. */
  createUser(user?: NewUser): Promise<TestUser>
  /** Makes a key of the server API with these scopes alone. */
  createApiKey(...scopes: Scope[]): Promise<string>
  /** Signs a user in; makes the account where there is none with this email. */
  signIn(user: { email: string }): Promise<SignedIn>
  /** Moves the clock of svc forward, by a duration such as `15m` or `720h`. The clock of the application stays. */
  moveClock(forward: string): Promise<void>
  /** Empties everything, `messages` and `webhooks` too, and puts the clock right. */
  reset(): Promise<void>
  /** The messages that svc has sent. */
  messages: Arrivals<Message>
  /** The events that svc has sent. */
  webhooks: Arrivals<ReceivedWebhook>
  /** What svc has logged. */
  logs(): string
  stop(): Promise<void>
}

const argumentsOf = ({ app, webhook, port = 0 }: StartSvcOptions): string[] => [
  `--port=${port}`,
  ...(app === undefined ? [] : [`--app=${app}`]),
  ...(webhook === undefined ? [] : [`--webhook=${webhook}`]),
]

/**
 * Starts a real svc in a process of its own: `svc dev` with an empty database, a mailbox and a receiver of webhooks. It
 * ends with `stop()`, with the block of `await using`, and with this process, however that ends. Finds svc by the
 * package `@svc/svc` beside the application, or by `SVC_BIN`.
 */
export const startSvc = async (options: StartSvcOptions = {}): Promise<TestSvc> => {
  const env = { SVC_LOG_LEVEL: 'info', ...options.env }
  const dev = await startDevProcess(findSvc(), argumentsOf(options), env)
  const { url, api_key: apiKey, webhook_secret: webhookSecret, not_used: notUsed } = dev.ready
  if (notUsed.length > 0) {
    await dev.stop()
    throw new Error(`startSvc does not take ${notUsed.join(', ')}: svc dev has its own`)
  }
  const admin = createAdmin({ url, apiKey })
  const post = (path: string, body: object = {}): Promise<Response> => postJson(`${url}/auth/dev/${path}`, body)
  return {
    url,
    apiKey,
    webhookSecret,
    admin,
    createUser: (user = {}) => createUser(admin, user),
    createApiKey: async (...scopes) =>
      ((await (await post('api-keys', scopes.length > 0 ? { scopes } : {})).json()) as { api_key: string }).api_key,
    signIn: async ({ email }) => readSignIn(await post('sign-in', { email }), new URL(url).hostname),
    moveClock: async (forward) => void (await post('clock', { forward })),
    reset: () => dev.afterReset(() => post('reset')),
    messages: dev.messages,
    webhooks: dev.webhooks,
    logs: dev.logs,
    stop: dev.stop,
    [Symbol.asyncDispose]: dev.stop,
  }
}

/** Throws an error with what svc says, where it refuses. */
const postJson = async (url: string, body: object): Promise<Response> => {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (answer.ok) return answer
  const { error } = (await answer.json()) as { error: { message: string } }
  throw new Error(`${new URL(url).pathname} answered ${answer.status}: ${error.message}`)
}
