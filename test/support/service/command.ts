import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeExit } from '../cleanup.ts'

/** Settings of a run. Undefined removes a variable. */
export type Environment = Record<string, string | undefined>

/** The result of a finished command; `code` is null if a signal ended it. */
export type CommandResult = { code: number | null; stdout: string; stderr: string }

/** A file system in memory, mounted on a folder that exists, for the command alone. */
export type SmallDisk = { folder: string; sizeKiB: number }

/** The command that starts this version of svc. */
const LAUNCHER = fileURLToPath(new URL('../../../bin/svc.js', import.meta.url))

/** The option of Node with which the password hashes of a service take next to no time. */
export const HASHES_AT_NO_COST = `--import=${new URL('../hashes/cheap-hashes-tap.js', import.meta.url).href}`

/** The option with which each of them waits for as long as a full one takes. */
export const HASHES_THAT_WAIT = `--import=${new URL('../hashes/slow-hashes-tap.js', import.meta.url).href}`

/** The environment of a child: only PATH of the caller, so that no SVC_* variable of a developer's shell takes part. */
export const freshEnvironment = (env: Environment): Record<string, string> => {
  const given = Object.entries({ PATH: process.env.PATH, ...env })
  return Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

// The limit of the shell stands for a full disk: no file can grow beyond it.
const withLimit = (limitKiB: number | undefined, command: string[]): string[] =>
  limitKiB === undefined ? command : ['/bin/sh', '-c', `ulimit -f ${limitKiB * 2}; exec "$0" "$@"`, ...command]

/** In namespaces of its own, which an ordinary user may make too: the mount ends with the process. */
const withSmallDisk = (disk: SmallDisk | undefined, command: string[]): string[] => {
  if (disk === undefined) return command
  const script = `mount -t tmpfs -o size=${disk.sizeKiB}k,mode=700 tmpfs "$0" && exec "$@"`
  return ['unshare', '--user', '--map-root-user', '--mount', '/bin/sh', '-c', script, disk.folder, ...command]
}

/** Whether this machine allows it. */
export const canMount = (): boolean => {
  const script = 'mount -t tmpfs tmpfs /mnt'
  return spawnSync('unshare', ['--user', '--map-root-user', '--mount', '/bin/sh', '-c', script]).status === 0
}

const withErrorsTo = (file: string | undefined, command: string[]): string[] =>
  file === undefined ? command : ['/bin/sh', '-c', 'file=$0; exec "$@" 2>"$file"', file, ...command]

/** Starts `svc ARGS` in a folder and returns the running child. */
export const spawnSvc = ({
  args,
  cwd,
  env,
  launcher = LAUNCHER,
  fileSizeLimitKiB,
  smallDisk,
  errorsTo,
}: {
  args: string[]
  cwd: string
  env: Environment
  /** The launcher of another version. */
  launcher?: string | undefined
  fileSizeLimitKiB?: number | undefined
  smallDisk?: SmallDisk | undefined
  /** A file in place of stderr. */
  errorsTo?: string
}): ChildProcessWithoutNullStreams => {
  const command = withErrorsTo(
    errorsTo,
    withSmallDisk(smallDisk, withLimit(fileSizeLimitKiB, [process.execPath, launcher, ...args])),
  )
  const child = spawn(command[0] ?? '', command.slice(1), { cwd, env: freshEnvironment(env), stdio: 'pipe' })
  child.stdout.setEncoding('utf8')
  child.stderr.setEncoding('utf8')
  child.once(
    'exit',
    beforeExit(() => child.kill('SIGKILL')),
  )
  return child
}

/** Runs `svc ARGS` to its end; one that has not ended after a minute is killed and reported with code null. */
export const runSvc = async ({
  args,
  cwd,
  env = {},
  launcher,
  input = '',
}: {
  args: string[]
  cwd: string
  env?: Environment
  launcher?: string | undefined
  input?: string
}): Promise<CommandResult> => {
  const child = spawnSvc({ args, cwd, env, launcher })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text: string) => (output.stdout += text))
  child.stderr.on('data', (text: string) => (output.stderr += text))
  // A command that does not read its input may have ended before it is written.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const patience = setTimeout(() => child.kill('SIGKILL'), 60_000)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  clearTimeout(patience)
  return { code, ...output }
}
