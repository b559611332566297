import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { giveTo, type Owner, serverOwner, unpackBinaries } from './postgres-binaries.ts'
import type { Guard } from './postgres-guard.ts'

/** Settings of postgresql.conf. */
export type PostgresSettings = Record<string, string | number>

/** A server's programs, data and log in one folder. */
type Home = { folder: string; owner: Owner }

const LOCALE = { LC_ALL: 'C', TZ: 'UTC' }
const READY = 'database system is ready to accept connections'
const PATIENCE_MS = 60_000
// Below the ports of outgoing connections, so that the port is still free for a restart.
const PORTS = [10_240, 32_000] as const

const own = (home: Home): string => path.join(home.folder, 'own')
const logFile = (home: Home): string => path.join(home.folder, 'log')
const program = (home: Home, name: string): string => path.join(home.folder, 'native/bin', name)

/** The file that the server in this folder removes as its last step. */
export const pidFile = (folder: string): string => path.join(folder, 'own/data/postmaster.pid')

const surroundings = (home: Home) => ({
  cwd: own(home),
  env: { PATH: process.env.PATH, ...LOCALE },
  ...home.owner,
})

/** Runs a program to its end, watched by the guard. */
const runGuarded = async (home: Home, guard: Guard, file: string, args: string[]): Promise<void> => {
  const running = promisify(execFile)(file, args, surroundings(home))
  if (running.child.pid !== undefined) guard.watch([running.child.pid])
  await running
  guard.watch([])
}

/**
 * Fills an empty folder with the programs and an empty cluster whose superuser `postgres` needs no password. With
 * SVC_TEST_PG_MODEL it is a copy of that folder, which takes a tenth of the time.
 */
export const prepareHome = async (folder: string, guard: Guard): Promise<Home> => {
  const home = { folder, owner: serverOwner() }
  const model = process.env.SVC_TEST_PG_MODEL
  // The user of the server must be able to enter the folder.
  if (home.owner) chmodSync(folder, 0o755)
  mkdirSync(own(home))
  giveTo(home.owner, own(home))
  if (model) {
    symlinkSync(path.join(model, 'native'), path.join(folder, 'native'))
    await runGuarded(home, guard, 'cp', ['-a', path.join(model, 'own/data'), 'data'])
    return home
  }
  unpackBinaries(path.join(folder, 'native'), home.owner)
  const format = ['--auth=trust', '--no-sync', '--locale=C', '--encoding=UTF8', '--username=postgres']
  await runGuarded(home, guard, program(home, 'initdb'), ['--pgdata=data', ...format])
  return home
}

const readLog = (home: Home): string => readFileSync(logFile(home), 'utf8')

/** Whether the latest start failed because another program uses the port. */
const isPortTaken = (home: Home): boolean => readLog(home).includes('could not bind')

/** Starts the server, without waiting until it accepts connections. */
const spawnServer = (home: Home, port: number, settings: PostgresSettings): ChildProcess => {
  const options = Object.entries({ ...settings, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = openSync(logFile(home), 'w')
  // In a separate session, so that Ctrl-C in a terminal does not reach it.
  const child = spawn(program(home, 'postgres'), ['-D', 'data', ...options], {
    ...surroundings(home),
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  return child
}

/** Resolves when the started server accepts connections. Fails with its log if it ends. */
const untilReady = async (home: Home, child: ChildProcess): Promise<void> => {
  const deadline = Date.now() + PATIENCE_MS
  while (!readLog(home).includes(READY)) {
    const isGone = child.pid === undefined || child.exitCode !== null || child.signalCode !== null
    if (isGone || Date.now() > deadline) throw new Error(`PostgreSQL did not start:\n${readLog(home)}`)
    await sleep(5)
  }
}

/** The parts of a server, whether it runs or not. */
export type Parts = { home: Home; guard: Guard; settings: PostgresSettings }

type Launcher = { running(): ChildProcess | undefined; launch(port: number): Promise<void> }

/** Launches one server after another and knows which process runs. */
export const createLauncher = ({ home, guard, settings }: Parts): Launcher => {
  let running: ChildProcess | undefined
  return {
    running: () => running,
    launch: async (port) => {
      const child = spawnServer(home, port, settings)
      running = child
      if (child.pid !== undefined) guard.watch([child.pid])
      child.once('error', () => {})
      child.once('exit', () => {
        running = undefined
        guard.watch([])
      })
      await untilReady(home, child)
    },
  }
}

/** Launches on a port that is free and resolves to it. */
export const launchSomewhere = async (launcher: Launcher, home: Home, tries = 5): Promise<number> => {
  const port = randomInt(...PORTS)
  try {
    await launcher.launch(port)
    return port
  } catch (error) {
    if (tries === 0 || !isPortTaken(home)) throw error
    return launchSomewhere(launcher, home, tries - 1)
  }
}
