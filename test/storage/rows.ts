import { randomUUID, randomUUIDv7 } from 'node:crypto'
import type { KeyRecord } from '../../src/sessions/keys/key-store.ts'
import type { Session } from '../../src/sessions/session.ts'
import type { UserRecord } from '../../src/accounts/user-store.ts'
import { type OutboxEvent, eventOutbox } from '../../src/webhooks/outbox-store.ts'
import type { Queries } from '../../src/storage/database.ts'

/** Later than any 32-bit number. */
export const T0 = 1_795_000_000_000

/** A user who is not in the database yet. */
export const newUser = (given: Partial<UserRecord> = {}): UserRecord => {
  const name = `p${randomUUID().replaceAll('-', '').slice(0, 12)}`
  const email = `${name}@example.com`
  return {
    id: randomUUIDv7(),
    email,
    emailLower: email,
    emailVerifiedAtMs: undefined,
    username: name,
    name: null,
    language: null,
    passwordHash: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    roles: [],
    disabled: false,
    createdAtMs: T0,
    isSelfMade: true,
    invitedAtMs: undefined,
    ...given,
  }
}

/** A session of that user that has just begun. */
export const newSession = (userId: string, given: Partial<Session> = {}): Session => ({
  id: randomUUIDv7(),
  userId,
  salt: randomUUID(),
  generation: 1,
  replacedAtMs: [],
  createdAtMs: T0,
  lastSeenAtMs: T0,
  expiresAtMs: T0 + 1000,
  absoluteExpiresAtMs: T0 + 2000,
  userAgent: 'Firefox',
  address: '203.0.113.7',
  authenticatedAtMs: T0,
  amr: ['pwd'],
  provider: undefined,
  deviceHash: 'device',
  ...given,
})

export const newKey = (given: Partial<KeyRecord> = {}): KeyRecord => ({
  id: randomUUID(),
  publicJwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' },
  privateJwkSealed: 'sealed',
  createdAtMs: T0,
  signsAtMs: null,
  retiredAtMs: null,
  revokedAtMs: null,
  ...given,
})

export type NewEvent = Pick<OutboxEvent, 'id' | 'type' | 'userId' | 'createdAtMs' | 'body'>

export const newEvent = (given: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUIDv7(),
  type: 'user.created',
  userId: randomUUIDv7(),
  createdAtMs: T0,
  body: '{"id":"…"}',
  ...given,
})

export const insertEvent = (db: Queries, event: NewEvent): Promise<number> => eventOutbox.insert(db, [event])

interface Closing extends Pick<OutboxEvent, 'status' | 'problem'> {
  nowMs: number
}

/** Closes an event as delivered, or as given up with a problem. */
export const closeEvent = (
  db: Queries,
  event: Pick<OutboxEvent, 'id' | 'attempts'>,
  { status, problem, nowMs }: Closing,
): Promise<number> =>
  eventOutbox.settle(db, event, {
    status,
    problem,
    deliveredAtMs: problem === null ? nowMs : null,
    closedAtMs: nowMs,
  })

/** For statements that have all the time of the server. */
export const NO_DEADLINE = Number.MAX_SAFE_INTEGER
