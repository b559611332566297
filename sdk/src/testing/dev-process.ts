import { type ChildProcess, spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { createArrivals, type Arrivals } from './arrivals.ts'

export type Environment = Record<string, string | undefined>

/** A message that svc has sent. */
export interface Message {
  from: string
  to: string
  subject: string
  text: string
  html: string
  /** Every http and https address in the text, in order. */
  links: string[]
  /** The link that the user is meant to open: the first with a token. */
  link: string | undefined
  /** Every code in the text that a user types, in order. */
  codes: string[]
  /** The first of them. */
  code: string | undefined
}

/** An event that svc has sent, with the request that brought it. */
export interface ReceivedWebhook {
  id: string
  type: string
  created_at: string
  data: { user_id: string; changed?: string[] }
  headers: Record<string, string>
  /** The body as it was sent, which the signature is made over. */
  body: string
}

interface Ready {
  type: 'ready'
  url: string
  api_key: string
  webhook_secret: string
  /** Settings that `svc dev` has itself. */
  not_used: string[]
}

/** The lines of `svc dev --json`. */
type Line =
  | Ready
  | ({ type: 'mail' } & Omit<Message, 'link' | 'code'>)
  | { type: 'webhook'; webhook: ReceivedWebhook }
  | { type: 'request' | 'reset' }

const toMessage = ({ links, codes, ...parts }: Omit<Message, 'link' | 'code'>): Message => {
  const link = links.find((url) => url.includes('?token='))
  return { ...parts, links, link, codes, code: codes[0] }
}

/** A running `svc dev`. */
export interface DevProcess {
  ready: Ready
  messages: Arrivals<Message>
  webhooks: Arrivals<ReceivedWebhook>
  /** Empties the lists and resolves when the line of a reset, which `act` causes, has come. */
  afterReset(act: () => Promise<unknown>): Promise<void>
  /** What it has logged. */
  logs(): string
  stop(): Promise<void>
}

/** What a program needs of the environment that it starts in; no setting of the developer's shell. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot', 'TEMP']

const PATIENCE_MS = 60_000
const STOP_PATIENCE_MS = 5000

// Other runtimes run tests as well, and other versions of Node; svc needs one that is new enough.
const findNode = (): string => {
  const isNode = !('bun' in process.versions || 'deno' in process.versions)
  return process.env.SVC_NODE || (isNode ? process.execPath : 'node')
}

const TOO_OLD = /svc needs Node .*/
const ADVICE = 'Tests that run on an older one name another by SVC_NODE: the path of its program.'

const spawnDev = (bin: string, args: string[], env: Environment): ChildProcess => {
  const file = realpathSync(bin)
  const [command, ...before] = file.endsWith('.js') ? [findNode(), file] : [bin]
  const passedOn = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]))
  // Not in the folder of the application, whose `.env` is not that of its tests.
  return spawn(command ?? bin, [...before, 'dev', '--json', ...args], {
    cwd: tmpdir(),
    env: { ...passedOn, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Starts `svc dev`, which ends with this process, however that ends. Resolves once it serves. */
export const startDevProcess = async (bin: string, args: string[], env: Environment): Promise<DevProcess> => {
  const child = spawnDev(bin, args, env)
  const messages = createArrivals<Message>('message')
  const webhooks = createArrivals<ReceivedWebhook>('webhook')
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()))
  let logs = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (logs += text))
  let onReady: ((line: Ready) => void) | undefined
  let onReset: (() => void) | undefined
  const take = (line: Line): void => {
    if (line.type === 'ready') onReady?.(line)
    else if (line.type === 'mail') messages.add(toMessage(line))
    else if (line.type === 'webhook') webhooks.add(line.webhook)
    else if (line.type === 'reset') onReset?.()
  }
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => take(JSON.parse(line) as Line))

  const stop = async (): Promise<void> => {
    // An end that is waited for keeps this process alive.
    child.ref()
    child.kill('SIGTERM')
    const patience = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS)
    await ended
    clearTimeout(patience)
  }
  const ready = await new Promise<Ready>((resolve, reject) => {
    const patience = setTimeout(() => fail(`svc did not start within ${PATIENCE_MS} ms`), PATIENCE_MS)
    const fail = (reason: string): void => {
      clearTimeout(patience)
      void stop().then(() => reject(new Error(`${reason}:\n${logs}`)))
    }
    onReady = (line) => {
      clearTimeout(patience)
      resolve(line)
    }
    child.once('error', ({ message }) => fail(`svc did not start (${message})`))
    child.once('close', (code) => {
      if (TOO_OLD.test(logs)) logs = `${TOO_OLD.exec(logs)?.[0]}\n${ADVICE}`
      fail(`svc did not start (exit ${code})`)
    })
  })
  // From now on it does not keep this process alive.
  child.unref()
  for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.()
  return {
    ready,
    messages: messages.list,
    webhooks: webhooks.list,
    async afterReset(act) {
      const emptied = new Promise<void>((resolve) => (onReset = resolve))
      await act()
      await emptied
      messages.clear()
      webhooks.clear()
    },
    logs: () => logs,
    stop,
  }
}
