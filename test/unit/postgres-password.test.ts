// Runs once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { test } from 'node:test'
import { negotiateConnection } from '../../src/storage/postgres/negotiate-connection.ts'
import { readPostgresUrl } from '../../src/storage/postgres/url.ts'
import { afterwards } from '../support/cleanup.ts'

/** An authentication message of the protocol: AuthenticationSASL is 10, AuthenticationSASLContinue 11. */
const authentication = (kind: number, content: string): Buffer => {
  const head = Buffer.alloc(9)
  head.write('R')
  head.writeInt32BE(8 + content.length, 1)
  head.writeInt32BE(kind, 5)
  return Buffer.concat([head, Buffer.from(content)])
}

/** The messages of a server that requires a password: the mechanism and the challenge. */
const WANTS_PASSWORD = [authentication(10, 'SCRAM-SHA-256\0\0'), authentication(11, 'r=nonce,s=c2FsdA==,i=4096')]

test('a start without a password for a server that requires one fails at once', async (t) => {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    const says = WANTS_PASSWORD.values()
    socket.on('data', () => void socket.write(says.next().value ?? ''))
  })
  afterwards(t, () => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  const target = readPostgresUrl(`postgres://svc@127.0.0.1:${address.port}/svc?sslmode=disable`)
  const waits: string[] = []
  const reached = negotiateConnection(target, { waitMs: 1, onWait: ({ message }) => void waits.push(message) })
  await assert.rejects(reached, /denies access: check user and password/)
  assert.deepEqual(waits, [])
})
