import { type ChildProcess, spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

export type Environment = Record<string, string | undefined>

export interface SvcCommand {
  args: string[]
  /** The launcher. */
  bin: string
  folder: string
  env: Environment
}

/** What a program needs of the environment that it starts in; no setting of the developer's shell. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot', 'TEMP']

const SERVING = '"svc is serving"'
const PATIENCE_MS = 60_000
const STOP_PATIENCE_MS = 2000

// Other runtimes run tests as well, and other versions of Node; svc needs one that is new enough.
const findNode = (): string => {
  const isNode = !('bun' in process.versions || 'deno' in process.versions)
  return process.env.SVC_NODE || (isNode ? process.execPath : 'node')
}

const TOO_OLD = /svc needs Node .*/
const ADVICE = 'Tests that run on an older one name another by SVC_NODE: the path of its program.'

const spawnSvc = ({ args, bin, folder, env }: SvcCommand): ChildProcess => {
  const file = realpathSync(bin)
  const [command, ...before] = file.endsWith('.js') ? [findNode(), file] : [bin]
  const passedOn = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]))
  return spawn(command ?? bin, [...before, ...args], { cwd: folder, env: { ...passedOn, ...env }, stdio: 'pipe' })
}

const readAll = async (stream: Readable | null): Promise<string> => (stream ? text(stream) : '')

/** Runs a command of svc to its end; resolves to what it printed. */
export const runSvc = async (command: SvcCommand, input = ''): Promise<string> => {
  const child = spawnSvc(command)
  const ended = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject))
  // A command may end before it has read its input.
  child.stdin?.on('error', () => {}).end(input)
  const [output, errors, code] = await Promise.all([readAll(child.stdout), readAll(child.stderr), ended])
  if (code !== 0) throw new Error(`svc ${command.args.slice(0, 2).join(' ')} failed: ${errors.trim()}`)
  return output
}

export interface Serving {
  /** What it has logged. */
  logs(): string
  /** From now on it does not keep this process alive. */
  unref(): void
  stop(): Promise<void>
}

/** Starts `svc serve`; resolves once it serves. */
export const serve = async (command: Omit<SvcCommand, 'args'>): Promise<Serving> => {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const hook = new URL(`./end-with-parent${extension}`, import.meta.url).href
  const options = [command.env.NODE_OPTIONS, `--import=${hook}`].filter(Boolean).join(' ')
  // The line that says that svc serves has the level info.
  const level = command.env.SVC_LOG_LEVEL === 'debug' ? 'debug' : 'info'
  const env = { ...command.env, SVC_LOG_LEVEL: level, NODE_OPTIONS: options, TEST_FOLDER_OF_SVC: command.folder }
  const child = spawnSvc({ ...command, args: ['serve'], env })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()))
  const stop = async (): Promise<void> => {
    // An end that is waited for keeps this process alive.
    child.ref()
    const patience = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS)
    // Like the end of this process. A kill would lose the compiled code, which makes the next start fast.
    child.stdin?.on('error', () => {}).end()
    await ended
    clearTimeout(patience)
  }
  let logs = ''
  await new Promise<void>((resolve, reject) => {
    const patience = setTimeout(() => fail(`svc did not start within ${PATIENCE_MS} ms`), PATIENCE_MS)
    const fail = (reason: string, cause?: Error): void => {
      clearTimeout(patience)
      void stop().then(() => reject(new Error(`${reason}:\n${logs}`, { cause })))
    }
    child.once('error', (error) => fail('svc did not start', error))
    child.once('close', (code) => {
      if (TOO_OLD.test(logs)) logs = `${TOO_OLD.exec(logs)?.[0]}\n${ADVICE}`
      fail(`svc did not start (exit ${code})`)
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        logs += text
        if (!logs.includes(SERVING)) return
        clearTimeout(patience)
        resolve()
      })
    }
  })
  return {
    logs: () => logs,
    unref() {
      child.unref()
      for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.()
    },
    stop,
  }
}
