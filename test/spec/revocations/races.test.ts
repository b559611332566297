// Runs on PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertGrant } from '../../../src/clients/grant-store.ts'
import { lockSession } from '../../../src/sessions/session-store.ts'
import { holding } from '../../support/database/held-transaction.ts'
import { currentUser, logOut, signedUp } from '../../support/client/accounts.ts'
import { createBackend } from '../../support/client/backend.ts'
import { CLIENT_SETTINGS, madeClient } from '../../support/clients/authorization.ts'
import { openDatabase } from '../../support/database/database.ts'
import { readAll } from '../../support/revocations/feed.ts'
import { watchEndings } from '../../support/revocations/watched-endings.ts'
import { openOperator } from '../../support/service/replicas.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const { db } = await openOperator(service)
const client = await madeClient(service)
const backend = await createBackend(service, ['revocations:read'])
const watched = await watchEndings(await openDatabase(service))

/** The first grant of all is another case: while there is none, nothing looks for those that hang on a session. */
for (const which of ['the first grant of all', 'another grant'])
  test(`a logout while a code becomes ${which} of the session: both have ended, and the feed tells of both`, async () => {
    const { agent } = await signedUp(service)
    const { id: userId } = await currentUser(agent)
    const sessionId = agent.cookies.get('svc_refresh')?.split('.')[0] ?? ''
    const { cursor } = await readAll(backend)
    const grantId = randomUUIDv7()
    const nowMs = Date.now()
    const grant = {
      id: grantId,
      userId,
      clientId: client.id,
      sessionId,
      salt: 'salt',
      generation: 1,
      replacedAtMs: [],
      createdAtMs: nowMs,
      lastUsedAtMs: nowMs,
      expiresAtMs: nowMs + 1_000_000,
      absoluteExpiresAtMs: nowMs + 1_000_000,
      scopes: [],
      resource: undefined,
      authenticatedAtMs: undefined,
      amr: [],
    }
    const trade = await holding(db, async (transaction) => {
      await lockSession(transaction, sessionId, userId)
      await insertGrant(transaction, grant)
    })
    const logout = logOut(agent)
    await sleep(300)
    await trade.commit()
    assert.equal((await logout).status, 303)
    const { events } = await readAll(backend, cursor)
    const told = events.flatMap(({ session_ids: ids = [] }) => ids)
    assert.deepEqual(told.toSorted(), [grantId, sessionId].toSorted())
    assert.equal(await watched.count(), told.length * (which === 'another grant' ? 2 : 1))
    assert.deepEqual(await watched.untold(), [])
    if (which === 'the first grant of all')
      await db.inTransaction((transaction) =>
        insertGrant(transaction, { ...grant, sessionId: undefined, id: randomUUIDv7() }),
      )
  })
