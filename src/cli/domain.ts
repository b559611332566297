import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import type { Domain } from '../domain.ts'
import { note } from './output.ts'

export type { Domain } from '../domain.ts'

export type User = NonNullable<Awaited<ReturnType<Domain['users']['find']>>>

/** Opens the installation (and makes it where there is none), does the work, closes it again. */
export const withDomain = async <T>(config: Config, work: (domain: Domain) => Promise<T>): Promise<T> => {
  const [{ createDomain }, { openInstallation }, log] = await Promise.all([
    import('../domain.ts'),
    import('../installation.ts'),
    createWarningLog(),
  ])
  noteNewFile(config)
  const installation = await openInstallation(config, log)
  try {
    return await work(createDomain(config, log, installation))
  } finally {
    await installation.db.close()
  }
}

/** Who is in the wrong folder should not wonder where all users have gone. */
const noteNewFile = ({ database }: Config): void => {
  if (database.kind !== 'sqlite') return
  const file = resolve(database.file)
  if (!existsSync(file)) note(`there is no database yet: making ${file}`)
}

const write = (line: string): boolean => process.stderr.write(line)

const createWarningLog = async () => {
  const { createLog, readable } = await import('../lib/log.ts')
  return createLog('warn', process.stderr.isTTY ? readable(write) : { write })
}

/** By id, email or username; `not_found` names what was asked for. */
export const requireUser = async ({ users }: Domain, name: string): Promise<User> => {
  const user = await users.find(name)
  if (user) return user
  const { AppError } = await import('../lib/errors.ts')
  throw new AppError('not_found', `there is no user ${JSON.stringify(name)}: give an id, an email or a username`)
}
