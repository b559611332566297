import type { Config } from '../../config/config.ts'
import { AppError } from '../../lib/errors.ts'
import { withCore } from '../with-core.ts'
import { inspectDatabaseClock } from './clock.ts'
import type { Finding } from './findings.ts'
import {
  findRootSecret,
  inspectDatabase,
  inspectHashes,
  inspectKeys,
  inspectMail,
  inspectWebhooks,
  unreachableDatabase,
} from './installation.ts'
import { inspectProxy } from './proxy.ts'

/** What to look at. */
interface Place {
  /** The public origin. */
  origin: string
  /** Certificates of further authorities, PEM. */
  ca: string | undefined
}

/** With one of these, nothing else can be seen through the address. */
const IN_THE_WAY = new Set([
  'unreachable',
  'certificate_refused',
  'redirected',
  'no_backend',
  'not_svc',
  'probe_unanswered',
  'response_headers_too_large',
])

/** Everything that is wrong with an installation, from the outside to the inside. Changes nothing. */
export const examine = async (config: Config, place: Place): Promise<Finding[]> => {
  const database = await inspectDatabase(config)
  const secret = findRootSecret(config)
  // Before the first start there is neither.
  if ('problem' in secret) return database.length > 0 ? database : [secret.problem]
  const proxy = await inspectProxy({ ...place, rootSecret: secret.rootSecret })
  const isReached = !proxy.some(({ code }) => IN_THE_WAY.has(code))
  const canBeOpened = database.every(({ code }) => code === 'disk_low')
  const inside = canBeOpened ? await inspectInside(config, { ...place, isReached }) : []
  return [...proxy, ...database, ...inside]
}

const inspectInside = async (config: Config, place: Place & { isReached: boolean }): Promise<Finding[]> => {
  try {
    return await withCore(config, async (core) => [
      ...(await inspectDatabaseClock(core)),
      ...(await inspectKeys(core, place)),
      ...(await inspectHashes(core)),
      ...(await inspectWebhooks(core, config)),
      ...(await inspectMail(core)),
    ])
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [unreachableDatabase(error)]
  }
}
