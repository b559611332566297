import { type ChildProcess, execFileSync, type Serializable, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { type Cores, onCores } from './cores.ts'

interface ChildOptions {
  /** The file to run, and its arguments. */
  command: string[]
  cores: Cores
  cwd?: string
  env?: Record<string, string>
  /** Modules to load before the program (`--import`). */
  imports?: string[]
}

/** A program under measurement, in its own process. */
export interface Child extends AsyncDisposable {
  pid: number
  port: number
  /** Sends a message over the process channel, and resolves to the answer of the program or of a preloaded module. */
  request<T>(message: Serializable): Promise<T>
  residentMb(): number
  /** Resolves when the process has ended. */
  stop(): Promise<void>
}

const MB = 1_000_000

let profiles = 0

/**
 * With `SVC_BENCH_PROFILE=FOLDER`, each program writes a profile of its processor time to its own folder below FOLDER.
 */
const profileOptions = (command: string[]): string[] => {
  const folder = process.env.SVC_BENCH_PROFILE
  if (!folder) return []
  const program = path.basename(command.find((word) => !word.startsWith('-')) ?? '')
  return ['--cpu-prof', `--cpu-prof-dir=${path.resolve(folder, `${++profiles}-${program}`)}`]
}

/**
 * Starts a program without waiting for it, and without the environment of this process, which could contain settings.
 */
export const startChild = ({ command, cores, cwd, env, imports = [] }: ChildOptions): ChildProcess => {
  const node = [process.execPath, ...profileOptions(command), ...imports.flatMap((module) => ['--import', module])]
  const [file = '', ...args] = onCores(cores, [...node, ...command])
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // An interrupt from the terminal is for the benchmark alone, which may end with a report.
    detached: true,
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Processes that were asked to end. */
const stopping = new WeakSet<ChildProcess>()

// No process outlives the benchmark, however the benchmark ends.
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a server and waits for the JSON line on its stderr that contains `listen`, its address. */
export const startServer = async (options: ChildOptions): Promise<Child> => {
  const child = startChild(options)
  const port = await readPort(child, options.command.join(' '))
  // The rest of the log is read, so that the pipe never fills, and shown if the server ends by itself.
  let lastWords: Buffer | undefined
  child.stderr?.on('data', (chunk: Buffer) => {
    lastWords = chunk
  })
  child.once('exit', (code, signal) => {
    if (!stopping.has(child)) console.error(`a server ended by itself (${code ?? signal}): ${lastWords?.toString()}`)
  })
  return { ...toChild(child), port }
}

/** Starts a program that only answers messages. */
export const startTool = (options: ChildOptions): Child => {
  const child = startChild(options)
  child.stderr?.pipe(process.stderr)
  return { ...toChild(child), port: 0 }
}

const toChild = (child: ChildProcess): Omit<Child, 'port'> => {
  const stop = async (): Promise<void> => {
    stopping.add(child)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    const impatience = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await once(child, 'exit')
    clearTimeout(impatience)
  }
  return {
    pid: child.pid ?? 0,
    request: <T>(message: Serializable): Promise<T> =>
      new Promise((resolve, reject) => {
        const fail = (): void => reject(new Error('a program ended before it answered'))
        child.once('disconnect', fail)
        child.once('message', (reply) => {
          child.off('disconnect', fail)
          resolve(reply as T)
        })
        child.send(message)
      }),
    residentMb: () => residentBytes(child.pid ?? 0) / MB,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const readPort = (child: ChildProcess, name: string): Promise<number> =>
  new Promise((resolve, reject) => {
    if (!child.stderr) throw new Error(`${name} has no stderr`)
    const lines = createInterface(child.stderr)
    const said: string[] = []
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${said.join('\n')}`)))
    lines.on('line', (line) => {
      said.push(line)
      const port = /"listen":"http:\/\/[^"]*:(\d+)/.exec(line)?.[1]
      if (port === undefined) return
      lines.close()
      resolve(Number(port))
    })
  })

const residentBytes = (pid: number): number => {
  if (process.platform !== 'linux') return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
