import type { Entry, SessionsEnded, TokensInDoubt } from './entry.ts'
import { createExpiringMap } from './expiring-map.ts'

/** The session that took the place of another one, of the same user. */
interface Replacement {
  sid: string
  userId: string
  expiresAtS: number
}

/** The claims that decide. */
export interface Subject {
  sub: string
  sid: string
  iat: number
}

/** An entry about tokens that may be worth nothing any more. */
interface Doubt {
  notBefore: number
  expiresAtS: number
  /** Entries are counted as they arrive: numbers of svc begin again where a backup is restored. */
  number: number
}

/** What the feed has said, as long as it matters. */
export interface Memory {
  add(entry: Entry): void
  hasEnded(sid: string): boolean
  /** The session that took the place of an ended one. */
  replacementOf(sid: string): Replacement | undefined
  /** The number of the last entry that casts doubt on a token; undefined where it says the truth. */
  doubtAbout(subject: Subject): number | undefined
  /** The number of the last entry. */
  count(): number
  /** The feed is read from its beginning again. What was known counts until `complete`. */
  beginAgain(): void
  complete(): void
  /** Drops some of what matters no longer. */
  sweep(): void
  /** The least that svc's clock can show, in seconds; no clock of this machine can be turned ahead to drop what counts. */
  svcTimeS(): number
}

const createKnowledge = () => ({
  // Most values are the bare time at which they expire: there may be a million.
  ended: createExpiringMap<number | Replacement>((end) => (typeof end === 'number' ? end : end.expiresAtS)),
  ofUser: createExpiringMap<Doubt>(({ expiresAtS }) => expiresAtS),
  ofAll: undefined as Doubt | undefined,
})

type Knowledge = ReturnType<typeof createKnowledge>

const endOf = ({ replacedBy: sid, userId, expiresAtS }: SessionsEnded): number | Replacement =>
  sid === undefined ? expiresAtS : { sid, userId, expiresAtS }

const later = (doubt: Doubt | undefined, next: Doubt): Doubt =>
  doubt ? { ...next, notBefore: Math.max(doubt.notBefore, next.notBefore) } : next

const merge = (older: Knowledge, newer: Knowledge): Knowledge => {
  for (const [sid, end] of newer.ended) older.ended.set(sid, end)
  for (const [userId, doubt] of newer.ofUser) older.ofUser.set(userId, later(older.ofUser.get(userId), doubt))
  if (newer.ofAll) older.ofAll = later(older.ofAll, newer.ofAll)
  return older
}

export const createMemory = (): Memory => {
  let current = createKnowledge()
  /** What was known before the feed was read from its beginning. */
  let previous: Knowledge | undefined
  let count = 0
  let clock = { svcS: 0, ownMs: 0 }

  const addDoubt = ({ userId, notBefore, expiresAtS }: TokensInDoubt): void => {
    const doubt = { notBefore, expiresAtS, number: count }
    if (userId === undefined) current.ofAll = later(current.ofAll, doubt)
    else current.ofUser.set(userId, later(current.ofUser.get(userId), doubt))
  }
  const svcTimeS = (): number => clock.svcS + (performance.now() - clock.ownMs) / 1000
  const findEnd = (sid: string): number | Replacement | undefined => current.ended.get(sid) ?? previous?.ended.get(sid)

  return {
    add(entry) {
      count += 1
      if (entry.atS > svcTimeS()) clock = { svcS: entry.atS, ownMs: performance.now() }
      if (entry.type !== 'session-revoked') addDoubt(entry)
      else for (const sid of entry.sessionIds) current.ended.set(sid, endOf(entry))
    },
    hasEnded: (sid) => findEnd(sid) !== undefined,
    replacementOf(sid) {
      const end = findEnd(sid)
      return typeof end === 'object' ? end : undefined
    },
    doubtAbout({ sub, iat }) {
      let last: number | undefined
      for (let known: Knowledge | undefined = current; known; known = known === current ? previous : undefined) {
        for (const doubt of [known.ofUser.get(sub), known.ofAll])
          if (doubt && iat <= doubt.notBefore) last = Math.max(last ?? 0, doubt.number)
      }
      return last
    },
    count: () => count,
    beginAgain() {
      // Two breaks in a row: nothing is forgotten until one reading is complete.
      previous = previous ? merge(previous, current) : current
      current = createKnowledge()
    },
    complete() {
      previous = undefined
    },
    sweep() {
      const nowS = svcTimeS()
      current.ended.sweep(nowS)
      current.ofUser.sweep(nowS)
    },
    svcTimeS,
  }
}
