import type { AuditDetails } from './audit-event.ts'
import type { AuditRow } from './audit-row.ts'

/** A count that is not in the database yet. */
export interface OpenTally {
  /** The account that was tried, if any has this email. Text that is no email is not here: it may be anything. */
  tried: { userId: string | undefined; emailLower: string | undefined }
  /** A keyed hash of the text that was entered for an email. */
  account: string | undefined
  details: AuditDetails | undefined
  network: string
  row: AuditRow
  count: number
  /** True: it has no room among the others, whatever it is about. */
  isRest: boolean
}

const MINUTE_MS = 60_000
export const ROWS_OF_A_MINUTE = 100

/** The kind and the minute of a row. */
export const placeOf = ({ type, atMs }: AuditRow): string => `${Math.floor(atMs / MINUTE_MS)}/${type}`

/** These bound memory, and the size of a transaction. */
const MOST_OWN = 2 * ROWS_OF_A_MINUTE
const MOST_OPEN = 2 * MOST_OWN

/** Keeps tallies in memory, of bounded size however long the database is away. */
export const createOpenTallies = () => {
  let open = new Map<string, OpenTally>()

  const hasRoomFor = (key: string, most: number): boolean => open.size < most || open.has(key)

  const addAs = (key: string, tally: OpenTally): void => {
    const known = open.get(key)
    if (!known) {
      open.set(key, tally)
      return
    }
    known.count += tally.count
  }

  return {
    get isEmpty(): boolean {
      return open.size === 0
    },

    add(tally: OpenTally): void {
      const place = placeOf(tally.row)
      const own = `${place}/${tally.account ?? tally.tried.userId ?? ''}/${tally.network}`
      if (!tally.isRest && hasRoomFor(own, MOST_OWN)) addAs(own, tally)
      // Past hours without the database, the rest of all minutes that follow counts as that of the first of them.
      else addAs(hasRoomFor(place, MOST_OPEN) ? place : tally.row.type, { ...tally, isRest: true })
    },

    /** Takes all, in an order that is the same for every process: two would wait for each other's rows otherwise. */
    take(): OpenTally[] {
      const taken = [...open].toSorted(([one], [other]) => (one < other ? -1 : 1))
      open = new Map()
      return taken.map(([, tally]) => tally)
    },
  }
}
