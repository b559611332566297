import type { Config } from '../../config/config.ts'
import { withCore } from '../with-core.ts'
import { type Finding, finding } from './findings.ts'
import { findRootSecret, inspectDatabase, inspectKeys, inspectMail, inspectWebhooks } from './installation.ts'
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
  const rootSecret = findRootSecret(config)
  const proxy = rootSecret ? await inspectProxy({ ...place, rootSecret }) : []
  if (!rootSecret && database.length === 0) {
    database.push(finding('keys_unreadable', 'The root secret is missing.'))
  }
  const isReached = rootSecret !== undefined && !proxy.some(({ code }) => IN_THE_WAY.has(code))
  const canBeOpened = rootSecret !== undefined && database.every(({ code }) => code === 'disk_low')
  const inside = canBeOpened ? await inspectInside(config, { ...place, isReached }) : []
  return [...proxy, ...database, ...inside]
}

const inspectInside = (config: Config, place: Place & { isReached: boolean }): Promise<Finding[]> =>
  withCore(config, async (core) => [
    ...(await inspectKeys(core, place)),
    ...(await inspectWebhooks(core, config)),
    ...(await inspectMail(core)),
  ])
