import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Core } from '../core.ts'
import type { AccountEventName, AccountFacts } from '../lib/account-event.ts'
import { note } from './terminal/output.ts'

export type { Core } from '../core.ts'

export type User = NonNullable<Awaited<ReturnType<Core['users']['find']>>>

/** Writes a line about what a command has done to an account, as the service does for requests. */
export type RecordEvent = (command: string, event: AccountEventName, facts: AccountFacts) => void

/** Opens the database, which is created where there is none, does the work, and closes it again. */
export const withCore = async <T>(
  config: Config,
  work: (core: Core, record: RecordEvent) => Promise<T>,
): Promise<T> => {
  const [{ createCore }, { bootstrap }, { createLog, readable }, { logAccountEvent }] = await Promise.all([
    import('../core.ts'),
    import('../bootstrap.ts'),
    import('../lib/log.ts'),
    import('../lib/account-event.ts'),
  ])
  const destination = process.stderr.isTTY ? readable(write) : { write }
  const log = createLog('warn', destination)
  const eventLog = createLog(config.logLevel, destination)
  noteNewFile(config)
  const bootstrapped = await bootstrap({ config, log })
  try {
    return await work(createCore({ config, log, ...bootstrapped }), (command, event, facts) =>
      logAccountEvent(eventLog, event, facts, { command, operator: operatorName() }),
    )
  } finally {
    await bootstrapped.db.close()
  }
}

/** Who is in the wrong folder should not wonder where all users have gone. */
const noteNewFile = ({ database }: Config): void => {
  if (database.kind !== 'sqlite') return
  const file = resolve(database.file)
  if (!existsSync(file)) note(`there is no database yet: making ${file}`)
}

const write = (line: string): boolean => process.stderr.write(line)

/** The user of the operating system; in a container that names none, the number. */
const operatorName = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** By id, email or username; `not_found` names what was asked for. */
export const requireUser = async ({ users }: Core, name: string): Promise<User> => {
  const user = await users.find(name)
  if (user) return user
  const { AppError } = await import('../lib/errors.ts')
  throw new AppError('not_found', `there is no user ${JSON.stringify(name)}: give an id, an email or a username`)
}
