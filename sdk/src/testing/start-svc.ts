import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Admin } from '../admin.ts'
import { createUser, type NewUser, type SignedIn, signIn, type TestUser } from './accounts.ts'
import { createKeys, type Scope } from './api-keys.ts'
import type { Arrivals } from './arrivals.ts'
import { findSvc } from './find-svc.ts'
import { startMailServer } from './mail-server.ts'
import type { Message } from './message.ts'
import { type Environment, type Serving, serve } from './svc-process.ts'
import { type ReceivedWebhook, startWebhookReceiver } from './webhook-receiver.ts'

export interface StartSvcOptions {
  /** Settings of svc, as in its documentation; undefined takes one of those that `startSvc` makes away. */
  env?: Record<string, string | undefined>
}

/** A real svc with an empty database of its own, for tests. */
export interface TestSvc extends AsyncDisposable {
  /** Where it answers: the value of `SVC_URL`. */
  url: string
  /** Creates an account; what is left out is made up. */
  createUser(user?: NewUser): Promise<TestUser>
  /** Makes a key of the server API; with all scopes where none is named. */
  createApiKey(...scopes: Scope[]): Promise<string>
  /** The server API, as `createAdmin` of `@svc/sdk/admin` with a key of all scopes. */
  admin(): Promise<Admin>
  /** Signs a user in, by the login form. */
  signIn(user: Pick<TestUser, 'email' | 'password'>): Promise<SignedIn>
  /** The messages that svc has sent. */
  messages: Arrivals<Message>
  /** The events that svc has sent. */
  webhooks: Arrivals<ReceivedWebhook>
  /** What svc has logged. */
  logs(): string
  stop(): Promise<void>
}

const START_TRIES = 3

const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Starts svc, on another port when a program was faster to take the first. */
const serveSomewhere = async (
  launch: { bin: string; folder: string; env: Environment },
  triesLeft = START_TRIES,
): Promise<{ svc: Serving; port: string }> => {
  const port = launch.env.SVC_PORT ?? String(await findFreePort())
  try {
    return { svc: await serve({ ...launch, env: { ...launch.env, SVC_PORT: port } }), port }
  } catch (error) {
    const isTaken = launch.env.SVC_PORT === undefined && /Port \d+ on \S+ is taken/.test(String(error))
    if (!isTaken || triesLeft === 1) throw error
    return serveSomewhere(launch, triesLeft - 1)
  }
}

const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })

/**
 * Starts a real svc in a process of its own, with an empty database, a mail server and a receiver of webhooks. It ends
 * with `stop()`, with the block of `await using`, and with this process, however that ends. Finds svc by the package
 * `@svc/svc` beside the application, or by `SVC_BIN`.
 */
export const startSvc = async ({ env = {} }: StartSvcOptions = {}): Promise<TestSvc> => {
  const bin = findSvc()
  const [mail, receiver] = await Promise.all([startMailServer(), startWebhookReceiver()])
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-sdk-'))
  const settings: Environment = {
    SVC_RATE_LIMIT: 'off',
    SVC_SMTP_URL: mail.url,
    SVC_MAIL_FROM: 'svc@example.com',
    SVC_WEBHOOK_URL: receiver.url,
    SVC_WEBHOOK_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
    ...env,
  }
  const stopServers = (): void => {
    mail.stop()
    receiver.stop()
  }
  try {
    const { svc, port } = await serveSomewhere({ bin, folder, env: settings })
    const launch = { bin, folder, env: { ...settings, SVC_PORT: port } }
    for (const one of [svc, mail, receiver]) one.unref()
    const url = `http://localhost:${port}`
    const { hostname } = new URL(settings.SVC_BASE_URL ?? url)
    const keys = createKeys(launch, url)
    const stop = async (): Promise<void> => {
      await svc.stop()
      stopServers()
      removeFolder(folder)
    }
    return {
      url,
      ...keys,
      createUser: (user = {}) => createUser({ command: launch, ...keys }, user),
      signIn: (user) => signIn(url, hostname, user),
      messages: mail.messages,
      webhooks: receiver.webhooks,
      logs: svc.logs,
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    stopServers()
    removeFolder(folder)
    throw error
  }
}
