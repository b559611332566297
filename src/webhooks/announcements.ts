import { type Clock, toTimestamp } from '../lib/time.ts'
import { USER_CHANGES, type UserChange } from '../lib/user-change.ts'
import { uuidAfter } from '../lib/uuid.ts'
import type { Transaction } from '../storage/database.ts'
import { eventOutbox, findLastId, findLastOpenId } from './outbox-store.ts'
import type { EventType } from './event-types.ts'

interface WebhookEvent {
  id: string
  type: string
  createdAtMs: number
  userId: string
  /** The changes of `user.updated`. */
  changed?: UserChange[] | undefined
}

/** The body of a webhook request (CONTRACT.md 6.3). */
export const createBody = ({ id, type, createdAtMs, userId, changed }: WebhookEvent): string =>
  JSON.stringify({ id, type, created_at: toTimestamp(createdAtMs), data: { user_id: userId, changed } })

interface AnnouncementsDeps {
  clock: Clock
  /** Other events are not written. */
  enabledEvents: readonly EventType[]
  /** Called after the commit of an event. */
  wake: () => void
}

/** Writes events to the outbox, in the transaction of the change that they tell of. */
export const createAnnouncements = ({ clock, enabledEvents, wake }: AnnouncementsDeps) => {
  const write = async (transaction: Transaction, type: EventType, userId: string, changed?: UserChange[]) => {
    if (!enabledEvents.includes(type)) return
    // Events of a user are sent in the order of their ids, which neither clocks nor random bits must upset.
    const id = uuidAfter(await findLastOpenId(transaction, userId))
    const createdAtMs = clock.now()
    const body = createBody({ id, type, createdAtMs, userId, changed })
    await eventOutbox.insert(transaction, [{ id, type, userId, createdAtMs, body }])
    transaction.afterCommit(wake)
  }

  return {
    announce: (transaction: Transaction, type: Exclude<EventType, 'user.updated'>, userId: string) =>
      write(transaction, type, userId),

    /** Writes one event for each of these users, who are different ones. */
    async announceAll(
      transaction: Transaction,
      type: Exclude<EventType, 'user.updated'>,
      userIds: readonly string[],
    ): Promise<void> {
      if (!enabledEvents.includes(type)) return
      // A user who is imported with the id of a deleted one may have events that wait.
      const last = await findLastId(transaction)
      const createdAtMs = clock.now()
      const events = userIds.map((userId) => {
        const id = uuidAfter(last)
        return { id, type, userId, createdAtMs, body: createBody({ id, type, createdAtMs, userId }) }
      })
      await eventOutbox.insert(transaction, events)
      transaction.afterCommit(wake)
    },

    async announceUpdate(transaction: Transaction, userId: string, given: readonly UserChange[]): Promise<void> {
      // Each change stands once, in the order of the table, however the caller has found them.
      const changed = USER_CHANGES.filter((each) => given.includes(each))
      if (changed.length > 0) await write(transaction, 'user.updated', userId, changed)
    },
  }
}
