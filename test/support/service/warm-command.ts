import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeExit, untilProcessEnds } from '../cleanup.ts'
import { type CommandResult, type Environment, freshEnvironment, runSvc } from './command.ts'

export type Command = {
  args: string[]
  cwd: string
  env?: Environment
  input?: string
  /** By how much the clock of the command is ahead. */
  aheadMs?: number | undefined
}

const HOST = fileURLToPath(new URL('./warm-command-host.ts', import.meta.url))
const PATIENCE_MS = 60_000

/** Whether a child keeps this process alive. */
const hold = (child: ChildProcessWithoutNullStreams, isHeld: boolean): void => {
  const pipes = [child.stdin, child.stdout, child.stderr].filter((pipe) => pipe instanceof Socket)
  for (const each of [child, ...pipes]) each[isHeld ? 'ref' : 'unref']()
}

/** Starts a process that runs one command after another, and ends with this one. */
const startHost = () => {
  const child = spawn(process.execPath, [HOST], {
    env: freshEnvironment({ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  })
  child.once(
    'exit',
    beforeExit(() => child.kill('SIGKILL')),
  )
  child.stderr.pipe(process.stderr)
  const lines = createInterface({ input: child.stdout })
  hold(child, false)
  let last: Promise<unknown> = Promise.resolve()

  const work = async (command: Command): Promise<CommandResult> => {
    const { promise, resolve } = Promise.withResolvers<CommandResult>()
    const end = () => resolve({ code: null, stdout: '', stderr: 'the command was ended' })
    const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    hold(child, true)
    child.once('exit', end)
    lines.once('line', (line) => resolve(JSON.parse(line)))
    child.stdin.write(`${JSON.stringify(command)}\n`)
    const result = await promise
    clearTimeout(patience)
    child.off('exit', end)
    hold(child, false)
    return result
  }

  return {
    /** Resolves when it is gone: processor time counts for the run only when its parent has seen it end. */
    end: async (): Promise<void> => {
      child.ref()
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
    hasEnded: (): boolean => child.exitCode !== null || child.signalCode !== null,
    run: (command: Command): Promise<CommandResult> => {
      const result = last.then(() => work(command))
      last = result
      return result
    },
  }
}

let host: ReturnType<typeof startHost> | undefined

untilProcessEnds(async () => {
  if (host && !host.hasEnded()) await host.end()
})

/**
 * Runs `svc ARGS` to its end in a process that has run others before, which costs a tenth of a start. One waits
 * for the other: for several at once, see `runSvc`. What has options for Node gets a process of its own.
 */
export const runCommand = (command: Command): Promise<CommandResult> => {
  if (command.env?.NODE_OPTIONS !== undefined) return runSvc(command)
  if (!host || host.hasEnded()) host = startHost()
  return host.run(command)
}
