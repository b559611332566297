import { existsSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { openSecretFile, secretFilesOf } from '../../config/root-secret.ts'
import type { Core } from '../../core.ts'
import { createRootSecret, type RootSecret } from '../../lib/derived-keys.ts'
import { AppError } from '../../lib/errors.ts'
import { findFreeSpace } from '../../lib/machine.ts'
import { compareClocks } from '../../storage/server-clock.ts'
import { withCore } from '../command/with-core.ts'
import { inspectClients } from './clients.ts'
import { checkClock, type Finding, finding, SMTP_HINTS } from './findings.ts'
import { exchange, type Place } from './probe.ts'
import { inspectProxy } from './proxy.ts'
import path from 'node:path'

/** One of these hides everything else that is behind the address. */
const IN_THE_WAY = new Set([
  'unreachable',
  'certificate_refused',
  'redirected',
  'no_backend',
  'not_svc',
  'probe_unanswered',
  'response_headers_too_large',
])

/** Finds everything that is wrong with an installation, from the outside to the inside. Changes nothing. */
export const examine = async (config: Config, place: Place): Promise<Finding[]> => {
  const database = await inspectDatabase(config)
  const secret = findRootSecret(config)
  // Before the first start there is neither a database nor a secret.
  if ('problem' in secret) return database.length > 0 ? database : [secret.problem]
  const proxy = await inspectProxy({ ...place, rootSecret: secret.rootSecret })
  const isReached = !proxy.some(({ code }) => IN_THE_WAY.has(code))
  const clients = isReached && config.clients ? await inspectClients({ ...place, rootSecret: secret.rootSecret }) : []
  const canBeOpened = database.every(({ code }) => code === 'disk_low')
  const inside = canBeOpened ? await inspectInside(config, { ...place, isReached }) : []
  return [...proxy, ...clients, ...(await inspectAdmin(config, place)), ...database, ...inside]
}

/** Looks whether the origin of administrators leads to their pages. */
const inspectAdmin = async ({ adminUrl }: Config, { ca }: Place): Promise<Finding[]> => {
  if (adminUrl === undefined) return []
  const ask = (way: string) => exchange({ origin: adminUrl, ca }, way)
  try {
    const health = await ask('/health')
    if (health.status !== 200 || health.body !== ADMIN_HEALTH)
      return [finding('admin_unreachable', `${adminUrl}/health is not answered by svc (${health.status}).`)]
    if ((await ask('/')).status !== MISDIRECTED) return []
    return [finding('admin_host_lost', `The header Host of requests for ${adminUrl} does not arrive.`)]
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return [finding('admin_unreachable', `Nobody answers at ${adminUrl} (${code}).`)]
  }
}

const ADMIN_HEALTH = '{"status":"ok"}'
const MISDIRECTED = 421

const inspectInside = async (config: Config, place: Place & { isReached: boolean }): Promise<Finding[]> => {
  try {
    return await withCore(config, 'doctor', async ({ core }) => [
      ...(await inspectClock(core)),
      ...(await inspectKeys(core, place)),
      ...(await inspectHashes(core)),
      ...(await inspectSearch(core, config)),
      ...(await inspectWebhooks(core, config)),
      ...(await inspectMail(core)),
    ])
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [unreachableDatabase(error)]
  }
}

/** Reads the root secret of the installation, or says why there is none. Creates nothing. */
const findRootSecret = (config: Config): { rootSecret: RootSecret } | { problem: Finding } => {
  const { secret, previousSecret } = config
  if (secret) return { rootSecret: createRootSecret({ current: secret, previous: previousSecret }) }
  const files = secretFilesOf(config)
  if (!files || !existsSync(files.current)) {
    return { problem: finding('keys_unreadable', 'The root secret is missing.') }
  }
  try {
    return { rootSecret: openSecretFile(files.database) }
  } catch (error) {
    return { problem: finding('keys_unreadable', problemOf(error, `${files.current} cannot be read.`)) }
  }
}

const problemOf = (error: unknown, otherwise: string): string => (error instanceof AppError ? error.message : otherwise)

/** Looks whether the database is there and up to date: only then it may be opened without being changed. */
const inspectDatabase = async (config: Config): Promise<Finding[]> => {
  const { database } = config
  const disk = database.kind === 'sqlite' ? inspectDisk(database.file) : []
  if (database.kind === 'sqlite' && !existsSync(path.resolve(database.file)))
    return [finding('database_missing', `There is no database at ${path.resolve(database.file)}.`), ...disk]
  try {
    const { findPending } = await import('../../bootstrap.ts')
    const pending = await findPending(config)
    return pending.length === 0
      ? disk
      : [finding('migrations_pending', `The database waits for ${pending.join(', ')}.`)]
  } catch (error) {
    return [unreachableDatabase(error), ...disk]
  }
}

const unreachableDatabase = (error: unknown): Finding =>
  finding('database_unreachable', problemOf(error, 'The database cannot be opened.'))

const LOW_BYTES = 256 * 1024 * 1024

/** Looks how much space is left for the database file. A server has its own disk, which svc cannot see. */
export const inspectDisk = (file: string, findSpace = findFreeSpace): Finding[] => {
  const space = findSpace(file)
  if (space === undefined || space.bytes >= LOW_BYTES) return []
  return [finding('disk_low', `${Math.floor(space.bytes / 1024 / 1024)} MB are left in ${space.folder}.`)]
}

const JWKS_PATH = '/auth/.well-known/jwks.json'

/** Looks whether the keys of the database are readable, and are those that the public address shows. */
const inspectKeys = async (
  { signingKeys }: Core,
  { isReached, ...place }: Place & { isReached: boolean },
): Promise<Finding[]> => {
  try {
    const { newestId } = await signingKeys.reload()
    await signingKeys.signingKey(newestId)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [finding('keys_unreadable', error.message)]
  }
  if (!isReached) return []
  const shown = await exchange(place, JWKS_PATH).catch(() => undefined)
  const own = (await signingKeys.list()).filter(({ state }) => state === 'signs').map(({ id }) => id)
  if (shown?.status !== 200 || own.every((id) => shown.body.includes(`"${id}"`))) return []
  return [finding('keys_differ', `${place.origin}${JWKS_PATH} does not have the key that signs here.`)]
}

/** Compares with the clock of the database's server, if there is a server. */
const inspectClock = async ({ db, clock }: Core): Promise<Finding[]> =>
  checkClock('database', -(await compareClocks(db, clock)).aheadMs)

/** Counts the hashes that cannot be checked: less memory than before may be left for it. */
const inspectHashes = async ({ users }: Core): Promise<Finding[]> => {
  const count = await users.countUncheckableHashes()
  if (count === 0) return []
  const whose = count === 1 ? '1 user has a password hash' : `${count} users have password hashes`
  return [finding('hashes_uncheckable', `${whose} too expensive to check here: every password is refused.`)]
}

/** Looks for the index on PostgreSQL, which nothing but a command makes, where administrators have a search box. */
const inspectSearch = async ({ db, loadUserIndex }: Core, { adminUrl }: Config): Promise<Finding[]> => {
  if (adminUrl === undefined || db.dialect === 'sqlite') return []
  const { has, needed } = await (await loadUserIndex()).state()
  if (has === 'all users' || !needed) return []
  return [finding('search_unindexed', 'A search looks at one user after another: there is no index.')]
}

/** Sends a test event to the receiver, if there is one. */
const inspectWebhooks = async ({ webhooks }: Core, { webhookUrl }: Config): Promise<Finding[]> => {
  if (!webhookUrl) return []
  const { problem } = await webhooks.sendTest()
  return problem === null ? [] : [finding('webhook_failed', `A test event was not delivered: ${problem}.`)]
}

/** Connects to the mail server, if there is one, and sends nothing. */
const inspectMail = async ({ mail }: Core): Promise<Finding[]> => {
  if (!mail.isOn) return []
  const { problem, step } = await mail.checkServer()
  if (problem === undefined) return []
  return [finding('smtp_failed', `The mail server: ${problem}.`, step && SMTP_HINTS[step])]
}
