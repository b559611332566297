import { type Command, InvalidArgumentError } from 'commander'
import type { AuditQuery, AuditType } from '../audit/audit.ts'
import { MAX_DATE_MS, parseDuration, readTimestamp } from '../lib/time.ts'
import { isUuid } from '../lib/uuid.ts'
import { type Core, requireUser } from './with-core.ts'

/** The options that select records. */
export interface AuditSelection {
  user?: string
  type?: string
  since?: Since
}

/** How long ago, or when, in milliseconds. */
type Since = { agoMs: number } | { atMs: number }

/** Adds them to a command. */
export const withSelection = (command: Command): Command =>
  command
    .option('--user <user>', 'only those of this user: id, email or username; of a deleted user, the id')
    .option('--type <type>', 'only those of this type, such as login.failed')
    .option('--since <time>', 'only those since then: 24h for the last day, or 2026-11-22T00:00:00Z', parseSince)

const parseSince = (text: string): Since => {
  const agoMs = parseDuration(text)
  if (agoMs !== undefined && agoMs >= 1 && agoMs <= MAX_DATE_MS) return { agoMs }
  const atMs = readTimestamp(text)
  if (atMs !== undefined) return { atMs }
  throw new InvalidArgumentError(
    'It must be a duration such as 30m, 24h or 2160h, or a time such as 2026-11-22T00:00:00Z.',
  )
}

/** Refuses a type that there is not: a misspelt one would find nothing. */
export const requireType = async (command: Command, type: string | undefined): Promise<AuditType | undefined> => {
  if (type === undefined) return undefined
  const { AUDIT_TYPES } = await import('../audit/audit-event.ts')
  const known = AUDIT_TYPES.find((it) => it === type)
  return (
    known ?? command.error(`error: there is no type ${JSON.stringify(type)}: the types are ${AUDIT_TYPES.join(', ')}`)
  )
}

/** Which records the options mean. */
export const readSelection = async (
  core: Core,
  { user, since }: AuditSelection,
  type: AuditType | undefined,
): Promise<AuditQuery> => ({ userId: await findUserId(core, user), type, sinceMs: since && timeOf(core, since) })

const timeOf = ({ clock }: Core, since: Since): number =>
  'atMs' in since ? since.atMs : Math.max(0, clock.now() - since.agoMs)

/** Of a deleted user, records keep the id. */
const findUserId = async (core: Core, user: string | undefined): Promise<string | undefined> => {
  if (user === undefined) return undefined
  const id = user.toLowerCase()
  return isUuid(id) ? id : (await requireUser(core, user)).id
}
