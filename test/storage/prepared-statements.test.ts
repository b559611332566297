// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { negotiateConnection } from '../../src/storage/postgres/negotiate-connection.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { readPostgresUrl } from '../../src/storage/postgres/url.ts'
import { afterwards } from '../support/cleanup.ts'
import { postgresUrl } from '../support/database/database-choice.ts'
import { startTcpProxy } from '../support/network/tcp-proxy.ts'
import { testOnPostgres } from './databases.ts'

const STATEMENTS = ['SELECT 1 AS n', 'SELECT 2 AS n', 'SELECT 3 AS n']

/** Runs these statements in order, as a separate process would, and resolves to the names they were prepared under. */
const namesOf = async (statements: string[], t: TestContext): Promise<Map<string, string>> => {
  const url = new URL(await postgresUrl())
  const proxy = await startTcpProxy({ port: Number(url.port), t })
  let sent = ''
  proxy.onSent((piece) => void (sent += piece.toString('latin1')))
  url.port = String(proxy.port)
  const connection = await negotiateConnection(readPostgresUrl(url.href), { waitMs: 0, onWait: () => {} })
  const db = openPostgres({ connection, size: 1, timeoutMs: 10_000, onChange: () => {} })
  afterwards(t, () => db.close())
  for (const statement of statements) await db.get(statement)
  // The message Parse: its length, then name and text, each ended by NUL.
  const parsed = sent.matchAll(/P[^]{4}(svc_[^\0]+)\0([^\0]+)\0/g)
  const statementsByText = new Map([...parsed].map(([, name = '', text = '']) => [text, name]))
  return new Map([...statementsByText].filter(([text]) => STATEMENTS.includes(text)))
}

testOnPostgres('behind a pooler, no two processes use one name for different statements', async (t) => {
  const [one, other] = [await namesOf(STATEMENTS, t), await namesOf(STATEMENTS.toReversed(), t)]
  assert.deepEqual(new Set(one.keys()), new Set(STATEMENTS))
  assert.equal(new Set(one.values()).size, STATEMENTS.length)
  for (const statement of STATEMENTS) assert.equal(one.get(statement), other.get(statement))
})
