import { existsSync, readFileSync, statSync } from 'node:fs'
import { type Config, ConfigError, readConfig } from './config/config.ts'
import type { Environment } from './config/setting.ts'
import type { Inspection } from './config/shown-settings.ts'
import { escapeControls } from './lib/control-characters.ts'
import { AppError } from './lib/errors.ts'
import { createLog, createPrettyStream, type Log } from './lib/log.ts'
import { createLogStream } from './lib/log-stream.ts'

/** sysexits.h calls it EX_CONFIG. */
const EXIT_CONFIG = 78
const EXIT_FAILURE = 1
const STDERR = 2

/** Runs the command `svc`. It sets the exit code; an error is one line on standard error, without a stack. */
export const main = async (args: string[]): Promise<void> => {
  // Nobody but the owner may read the files that svc writes: database, root secret, backups.
  process.umask(0o077)
  try {
    await runCommand(args)
  } catch (error) {
    report(error)
  }
}

const runCommand = async (args: string[]): Promise<void> => {
  const given = new Set(Object.keys(process.env))
  loadEnvFile()
  dropDriverSettings()
  const fromEnvFile = new Set(Object.keys(process.env).filter((name) => !given.has(name)))
  const loadConfig = (environment: Environment = process.env): Config =>
    readConfig(environment, readText, { fromEnvFile, modeOf })
  const serve = () => runServe(loadConfig(), fromEnvFile)
  // This way does without the parser of arguments, which takes its time to load.
  if (args[0] === 'serve' && args.length === 1) return serve()
  const { runProgram } = await import('./cli/program.ts')
  await runProgram(args, { loadConfig, serve, endWithParent, environment: process.env, fromEnvFile })
}

const write = (text: string): boolean => process.stderr.write(text)

const loadEnvFile = (): void => {
  if (!existsSync('.env')) return
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    throw new ConfigError([
      `.env cannot be read (${(error as NodeJS.ErrnoException).code}): a file of NAME=value lines`,
    ])
  }
}

/** The driver of PostgreSQL reads PGOPTIONS, PGPASSWORD and others by itself: `svc config` would not show them. */
const dropDriverSettings = (): void => {
  for (const name of Object.keys(process.env)) if (/^(?:NODE_)?PG/.test(name)) delete process.env[name]
}

const readText = (path: string): string => readFileSync(path, 'utf8')

/**
 * Reads the permission bits; returns undefined if the file cannot be examined, and on Windows, where they mean nothing.
 */
const modeOf = (path: string): number | undefined => {
  try {
    return process.platform === 'win32' ? undefined : statSync(path).mode
  } catch {
    return undefined
  }
}

const openLog = ({ logLevel }: Config): Log =>
  createLog(logLevel, process.stderr.isTTY ? createPrettyStream(write) : createLogStream(STDERR))

const LOOK_AFTER_PARENT_MS = 1000

/** npx ends its shell and tells svc nothing on SIGTERM: svc then has another parent, and stops as if it were told. */
const endWithParent = (parent = process.ppid): void => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM')
  else setTimeout(endWithParent, LOOK_AFTER_PARENT_MS, parent).unref()
}

/** Administrators see this; nothing of it is loaded before. */
const inspectionOf = (config: Config, fromEnvFile: ReadonlySet<string>): Inspection => ({
  async listSettings() {
    const { showSettings } = await import('./config/shown-settings.ts')
    return showSettings(config, { environment: process.env, fromEnvFile })
  },
  async examine(origin) {
    const { examine } = await import('./cli/doctor/installation.ts')
    return examine(config, { origin, ca: undefined })
  },
})

const runServe = async (config: Config, fromEnvFile: ReadonlySet<string>): Promise<void> => {
  if (process.env['npm_command'] === 'exec') endWithParent()
  const { serve } = await import('./serve/serve.ts')
  const inspection = inspectionOf(config, fromEnvFile)
  return serve(config, { log: openLog(config), inspection, greet: process.stderr.isTTY ? write : undefined })
}

const report = (error: unknown): void => {
  if (error instanceof ConfigError) {
    const lines = [...error.errors, ...error.warnings.map((warning) => `warning: ${warning}`)]
    process.stderr.write(lines.map((line) => `svc: ${line}\n`).join(''))
    process.exitCode = EXIT_CONFIG
    return
  }
  const message =
    error instanceof AppError ? error.message : `unexpected failure: ${(error as Error)?.message ?? error}`
  // The cause helps if svc or the database has failed. If the user has made a mistake, the message says it all.
  const isOurs = error instanceof AppError && (error.code === 'internal_error' || error.code === 'unavailable')
  const cause = isOurs && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  process.stderr.write(escapeControls(`svc: ${message}${cause}\n`))
  process.exitCode ||= EXIT_FAILURE
}
