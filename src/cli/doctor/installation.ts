import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../../config/config.ts'
import { openSecretFile, rootSecretFile } from '../../config/root-secret.ts'
import type { Core } from '../../core.ts'
import { createRootSecret, type RootSecret } from '../../lib/derived-keys.ts'
import { AppError } from '../../lib/errors.ts'
import { findFreeSpace } from '../../lib/machine.ts'
import { SMTP_HINTS } from '../mail-test.ts'
import { exchange } from './exchange.ts'
import { type Finding, finding } from './findings.ts'

/** The root secret of the installation, or why there is none. Creates nothing. */
export const findRootSecret = ({
  database,
  secret,
  previousSecret,
}: Config): { rootSecret: RootSecret } | { problem: Finding } => {
  if (secret) return { rootSecret: createRootSecret({ current: secret, previous: previousSecret }) }
  const file = database.kind === 'sqlite' ? path.resolve(database.file) : undefined
  if (file === undefined || !existsSync(rootSecretFile(file))) {
    return { problem: finding('keys_unreadable', 'The root secret is missing.') }
  }
  try {
    return { rootSecret: openSecretFile(file) }
  } catch (error) {
    return { problem: finding('keys_unreadable', problemOf(error, `${rootSecretFile(file)} cannot be read.`)) }
  }
}

const problemOf = (error: unknown, otherwise: string): string => (error instanceof AppError ? error.message : otherwise)

/** Whether the database is there and up to date: only then it may be opened without being changed. */
export const inspectDatabase = async (config: Config): Promise<Finding[]> => {
  const { database } = config
  if (database.kind === 'sqlite' && !existsSync(path.resolve(database.file))) {
    const missing = finding('database_missing', `There is no database at ${path.resolve(database.file)}.`)
    return [missing, ...inspectDisk(database.file)]
  }
  try {
    const { findPending } = await import('../../bootstrap.ts')
    const pending = await findPending(config)
    if (pending.length === 0) return database.kind === 'sqlite' ? inspectDisk(database.file) : []
    return [finding('migrations_pending', `The database waits for ${pending.join(', ')}.`)]
  } catch (error) {
    return [unreachableDatabase(error), ...(database.kind === 'sqlite' ? inspectDisk(database.file) : [])]
  }
}

export const unreachableDatabase = (error: unknown): Finding =>
  finding('database_unreachable', problemOf(error, 'The database cannot be opened.'))

const LOW_BYTES = 256 * 1024 * 1024

/** What is left for the database file. A server has its own disk, which svc cannot see. */
export const inspectDisk = (file: string, findSpace = findFreeSpace): Finding[] => {
  const space = findSpace(file)
  if (space === undefined || space.bytes >= LOW_BYTES) return []
  return [finding('disk_low', `${Math.floor(space.bytes / 1024 / 1024)} MB are left in ${space.folder}.`)]
}

/** Whether the keys of the database are readable, and are those that the public address shows. */
export const inspectKeys = async (
  { signingKeys }: Core,
  { origin, ca, isReached }: { origin: string; ca: string | undefined; isReached: boolean },
): Promise<Finding[]> => {
  try {
    const { newestId } = await signingKeys.reload()
    await signingKeys.signingKey(newestId)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [finding('keys_unreadable', error.message)]
  }
  if (!isReached) return []
  const shown = await exchange({ origin, path: '/auth/.well-known/jwks.json', ca }).catch(() => undefined)
  const own = (await signingKeys.list()).filter(({ state }) => state === 'signs').map(({ id }) => id)
  if (shown?.status !== 200 || own.every((id) => shown.body.includes(`"${id}"`))) return []
  return [finding('keys_differ', `${origin}/auth/.well-known/jwks.json does not have the key that signs here.`)]
}

/** Whether a password can be checked with each stored hash: less memory than before may be left for it. */
export const inspectHashes = async ({ users }: Core): Promise<Finding[]> => {
  const count = await users.countUncheckableHashes()
  if (count === 0) return []
  const whose = count === 1 ? '1 user has a password hash' : `${count} users have password hashes`
  return [finding('hashes_uncheckable', `${whose} too expensive to check here: every password is refused.`)]
}

/** Sends a test event to the receiver, if there is one. */
export const inspectWebhooks = async ({ webhooks }: Core, { webhookUrl }: Config): Promise<Finding[]> => {
  if (!webhookUrl) return []
  const { problem } = await webhooks.sendTest()
  return problem === null ? [] : [finding('webhook_failed', `A test event was not delivered: ${problem}.`)]
}

/** Connects to the mail server, if there is one, and sends nothing. */
export const inspectMail = async ({ mail }: Core): Promise<Finding[]> => {
  if (!mail.isOn) return []
  const { problem, step } = await mail.checkServer()
  if (problem === undefined) return []
  return [finding('smtp_failed', `The mail server: ${problem}.`, step && SMTP_HINTS[step])]
}
