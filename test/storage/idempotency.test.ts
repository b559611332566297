// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createApiKeys } from '../../src/api-keys/api-keys.ts'
import { createIdempotency } from '../../src/api-keys/idempotency.ts'
import { createRootSecret } from '../../src/lib/derived-keys.ts'
import { AppError } from '../../src/lib/errors.ts'
import { systemClock } from '../../src/lib/time.ts'
import { countTry } from '../../src/limits/counter-store.ts'
import { freshDatabase } from './databases.ts'

const { db, open } = await freshDatabase()
const handles = [db, await open()] as const
const secret = randomBytes(32)
const idempotencyOf = (handle: typeof db, current: Uint8Array, previous?: Uint8Array) =>
  createIdempotency({ db: handle, clock: systemClock, rootSecret: createRootSecret({ current, previous }) })
const one = idempotencyOf(handles[0], secret)
const other = idempotencyOf(handles[1], secret)
const { key } = await createApiKeys({ db, clock: systemClock, recordEvent: async () => {} }).create({
  name: 'any',
  scopes: ['users:write'],
  lifetimeMs: undefined,
})

const requestNamed = (idempotencyKey: string, body = '{}') => ({
  apiKeyId: key.id,
  idempotencyKey,
  method: 'POST',
  target: '/auth/api/v2/users',
  body: Buffer.from(body),
})

const begin = async (idempotency: typeof one, name: string) => {
  const begun = await idempotency.begin(requestNamed(name))
  if ('answer' in begun) throw new Error('it was answered before')
  return begun.claim
}

/** An effect that can be counted. */
const act = (transaction: typeof db | Parameters<Parameters<typeof db.inTransaction>[0]>[0], name: string) =>
  countTry(transaction.all, {
    counters: [{ id: name, tries: 1000, windowMs: 60_000_000, isOfNetwork: false, browsers: 'all' }],
    nowMs: 0,
  })
const effects = async (name: string): Promise<number> =>
  (await db.get<{ count: number }>('SELECT count FROM counters WHERE id = ?', name))?.count ?? 0

/** The process of the first request has died, or takes longer than anybody waits. */
const letClaimsEnd = async () => {
  await db.run('UPDATE idempotent_requests SET claimed_until = claimed_until - 40000')
  // The next claim is of a later millisecond, as all are that follow one that has ended by itself.
  const nowMs = Date.now()
  while (Date.now() === nowMs);
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'none'
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

describe('a request that has one effect', () => {
  test('of 40 at once over two connections, one is claimed and the others are told to wait: 10 times', async () => {
    for (let round = 0; round < 10; round++) {
      const tries = Array.from({ length: 40 }, (_, index) =>
        codeOf((index % 2 ? one : other).begin(requestNamed(`raced ${round}`))),
      )
      const codes = await Promise.all(tries)
      assert.equal(codes.filter((code) => code === 'none').length, 1)
      assert.equal(codes.filter((code) => code === 'conflict').length, 39)
    }
  })

  test('whose claim has ended: of 20 at once, one takes it over: 10 times', async () => {
    for (let round = 0; round < 10; round++) {
      await begin(one, `left ${round}`)
      await letClaimsEnd()
      const tries = Array.from({ length: 20 }, (_, index) =>
        codeOf((index % 2 ? one : other).begin(requestNamed(`left ${round}`))),
      )
      assert.equal((await Promise.all(tries)).filter((code) => code === 'none').length, 1)
    }
  })

  test('that was taken over does nothing: its transaction ends without an effect', async () => {
    const slow = await begin(one, 'slow')
    await letClaimsEnd()
    const fast = await begin(other, 'slow')
    const finish = (claim: typeof slow, handle: typeof db) =>
      handle.inTransaction(async (transaction) => {
        await act(transaction, 'slow')
        await claim.keep(transaction, { status: 201, content: '{"id":1}' })
      })
    assert.equal(await codeOf(finish(slow, handles[0])), 'conflict')
    assert.equal(await effects('slow'), 0)
    await finish(fast, handles[1])
    assert.equal(await effects('slow'), 1)
    await slow.release()
    await slow.keepFailure({ status: 409, content: '{}' })
    assert.deepEqual(await one.begin(requestNamed('slow')), { answer: { status: 201, content: '{"id":1}' } })
  })

  test('whose transaction fails keeps nothing, and can be sent again once it is released', async () => {
    const claim = await begin(one, 'failed')
    const failing = db.inTransaction(async (transaction) => {
      await claim.keep(transaction, { status: 201, content: '{}' })
      throw new AppError('unavailable', 'gone')
    })
    assert.equal(await codeOf(failing), 'unavailable')
    assert.equal(await codeOf(other.begin(requestNamed('failed'))), 'conflict')
    await claim.release()
    await begin(other, 'failed')
  })

  test('is known by its body, and holds neither that nor the answer in plain text', async () => {
    const claim = await begin(one, 'sealed')
    await claim.keepFailure({ status: 409, content: '{"message":"plain"}' })
    assert.equal(await codeOf(one.begin(requestNamed('sealed', '{ }'))), 'unprocessable')
    const [row] = await db.all<Record<string, unknown>>(
      'SELECT * FROM idempotent_requests WHERE status = 409 AND answer_sealed IS NOT NULL',
    )
    assert.ok(row)
    assert.doesNotMatch(JSON.stringify(row), /plain/)
    const content = Buffer.from(String(row.answer_sealed), 'base64url').toString('latin1')
    assert.ok(!content.includes('plain'))
  })

  test('is answered after the root secret was rotated once, and refused when its answer can no longer be opened', async () => {
    const claim = await begin(one, 'rotated')
    await claim.keepFailure({ status: 422, content: '{}' })
    const next = randomBytes(32)
    const rotated = idempotencyOf(db, next, secret)
    assert.deepEqual(await rotated.begin(requestNamed('rotated')), { answer: { status: 422, content: '{}' } })
    assert.equal(await codeOf(idempotencyOf(db, next).begin(requestNamed('rotated'))), 'unprocessable')
    assert.equal(await codeOf(rotated.begin(requestNamed('rotated', '[]'))), 'unprocessable')
  })

  test('is forgotten after a day', async () => {
    const claim = await begin(one, 'old')
    await claim.keepFailure({ status: 409, content: '{}' })
    await db.run('UPDATE idempotent_requests SET expires_at = expires_at - 86400000')
    const again = await begin(other, 'old')
    await db.run('UPDATE idempotent_requests SET expires_at = expires_at - 86400000 WHERE status IS NULL')
    assert.ok((await one.deleteExpired(Date.now())) > 5)
    assert.deepEqual(await db.all('SELECT id FROM idempotent_requests'), [])
    await again.release()
  })
})
