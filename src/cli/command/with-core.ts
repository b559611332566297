import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { Core } from '../../core.ts'
import type { AccountEventName, AccountFacts } from '../../lib/account-event.ts'
import { AppError } from '../../lib/errors.ts'
import type { User } from '../../accounts/accounts.ts'
import { printNotice } from '../terminal/output.ts'

export type { Core } from '../../core.ts'

export interface Opened {
  core: Core
  config: Config
  /** Logs what a command has done to an account, as the service does for requests. */
  logEvent: (event: AccountEventName, facts: AccountFacts) => void
}

/** An export reads all rows as they were at one moment, for as long as that takes. */
export const EXPORT_TIMEOUT_MS = 3_600_000

/** Opens the database, which the first use creates, does the work of a command, and closes the database. */
export const withCore = async <T>(
  config: Config,
  command: string,
  work: (opened: Opened) => Promise<T>,
): Promise<T> => {
  const [{ createCore }, { bootstrap }, { createLog, createPrettyStream }, { logAccountEvent }] = await Promise.all([
    import('../../core.ts'),
    import('../../bootstrap.ts'),
    import('../../lib/log.ts'),
    import('../../lib/account-event.ts'),
  ])
  const destination = process.stderr.isTTY ? createPrettyStream(write) : { write }
  const log = createLog('warn', destination)
  // On a terminal the result says it already.
  const eventLog = createLog(process.stderr.isTTY ? 'warn' : config.logLevel, destination)
  noticeNewFile(config)
  const bootstrapped = await bootstrap({ config, log })
  try {
    return await work({
      core: createCore({ config, log, actor: 'cli', auditLog: eventLog, ...bootstrapped }),
      config,
      logEvent: (event, facts) => logAccountEvent(eventLog, event, facts, { command, operator: operatorName() }),
    })
  } finally {
    await bootstrapped.db.close()
  }
}

/** Tells an operator in the wrong folder why there are no users. */
const noticeNewFile = ({ database }: Config): void => {
  if (database.kind !== 'sqlite') return
  const file = resolve(database.file)
  if (!existsSync(file)) printNotice(`there is no database yet: creating ${file}`)
}

const write = (line: string): boolean => process.stderr.write(line)

/** Names the user of the operating system, whose number may have no name in a container. */
const operatorName = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** Finds a user by id, email or username, or throws `not_found`. */
export const requireUser = async ({ users }: Core, name: string): Promise<User> => {
  const user = await users.find(name)
  if (user) return user
  throw new AppError('not_found', `there is no user ${JSON.stringify(name)}: give an id, an email or a username`)
}
