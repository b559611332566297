// Runs on SQLite, alone.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, test } from 'node:test'
import { Server as SocketIoServer } from 'socket.io'
import { WebSocket, WebSocketServer } from 'ws'
import { type ClosableSocket, createAuth, type SessionEnd, type User } from '../../sdk/src/server.ts'
import { logIn, logOut, signedUp } from '../support/client/accounts.ts'
import { createBackend } from '../support/client/backend.ts'
import type { UserAgent } from '../support/client/user-agent.ts'
import { type Connect, type Connection, SOCKET_SERVERS, startWs } from '../support/sdk/sockets.ts'
import { runCommandOf } from '../support/service/operator-commands.ts'
import { startService } from '../support/service/service.ts'
import { within } from '../support/wait.ts'

const service = await startService()
const { key: apiKey } = await createBackend(service, ['revocations:read'])
const auth = createAuth({ url: service.url, issuer: service.url, revocations: { apiKey, stale: 'refuse' } })

const cookiesOf = (agent: UserAgent): string => agent.cookies.header('/') ?? ''

const opened = async (connect: Connect, agent: UserAgent): Promise<Connection> =>
  (await connect(cookiesOf(agent))) ?? assert.fail('the server lets the user in')

const newUser = async () => {
  const { agent, person } = await signedUp(service)
  const cookies = cookiesOf(agent)
  const { sid, id: sub } = (await auth.getUser({ headers: { cookie: cookies } })) ?? assert.fail()
  return { agent, person, cookies, session: { sid, sub } }
}

/** What a server does with each connection. */
const watch = (socket: ClosableSocket, { id: sub, sid }: User): void =>
  void auth.closeOnSessionEnd(socket, { sid, sub })

/** Resolves when the feed has told what was done before. */
const feedHasCome = async (): Promise<void> => {
  const { agent, session } = await newUser()
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = auth.onSessionEnded(({ sid }) => sid === session.sid && resolve())
  await logOut(agent)
  await within(60, 'the feed', promise)
  stop()
}

for (const [name, { start, end }] of Object.entries(SOCKET_SERVERS)) {
  describe(`closeOnSessionEnd with ${name}`, () => {
    test('closes at a logout in another tab, not at a renewal, and no connection of another user', async (t) => {
      const connect = await start(t, auth, watch)
      const [leaving, staying] = [await signedUp(service), await signedUp(service)]
      const tabs = [await opened(connect, leaving.agent), await opened(connect, leaving.agent)]
      const other = await opened(connect, staying.agent)
      assert.equal((await leaving.agent.post('/auth/api/v1/sessions/refresh?audience=app')).status, 200)
      await feedHasCome()
      assert.deepEqual(
        tabs.map((tab) => tab.isOpen()),
        [true, true],
      )
      const cookies = cookiesOf(leaving.agent)
      await logOut(leaving.agent)
      for (const tab of tabs) assert.equal(await within(60, 'the end', tab.end), end)
      assert.ok(other.isOpen())
      assert.equal(await connect(cookies), undefined, 'getUser refuses the next request')
      assert.equal(await connect(''), undefined)
      other.leave()
    })

    test('goes on with the session that took the place, and closes with its end', async (t) => {
      const connect = await start(t, auth, watch)
      const { agent, person, session } = await newUser()
      const connection = await opened(connect, agent)
      await logIn(agent, person)
      await logIn(agent, person)
      await feedHasCome()
      assert.ok(connection.isOpen())
      // It was opened with the first session, and is watched when that was replaced already.
      const late: unknown[] = []
      auth.closeOnSessionEnd({ close: (...how) => late.push(how) }, session)
      assert.deepEqual(late, [])
      await logOut(agent)
      assert.equal(await within(60, 'the end', connection.end), end)
      assert.deepEqual(late, [[4401, 'session ended']])
    })
  })
}

describe('closeOnSessionEnd', () => {
  test('closes at once where the session has ended already, and never where it was told to stop', async () => {
    const { agent, session } = await newUser()
    const closed: string[] = []
    const socket = (name: string) => ({ close: () => closed.push(name) })
    const stop = auth.closeOnSessionEnd(socket('stopped'), session)
    stop()
    await logOut(agent)
    await feedHasCome()
    assert.deepEqual(closed, [])
    auth.closeOnSessionEnd(socket('late'), session)
    assert.deepEqual(closed, ['late'])
  })

  test('has nothing to do with a connection whose client has left', async (t) => {
    const { agent } = await newUser()
    const calls: unknown[] = []
    const connect = await startWs(t, auth, (socket, user) => {
      watch(socket, user)
      assert.ok('on' in socket && typeof socket.on === 'function')
      socket.on('close', () => Object.assign(socket, { close: () => calls.push('close') }))
    })
    const connection = await opened(connect, agent)
    connection.leave()
    await connection.end
    await logOut(agent)
    await feedHasCome()
    assert.deepEqual(calls, [])
  })

  test('says 4401 on the WebSocket below Socket.IO', async (t) => {
    const server = createServer()
    const sockets = new SocketIoServer(server, { serveClient: false })
    const { agent, session } = await newUser()
    sockets.on('connection', (socket) => auth.closeOnSessionEnd(socket, session))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => sockets.close())
    const { port } = server.address() as AddressInfo
    const client = new WebSocket(`ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket`)
    const texts: string[] = []
    client.on('message', (data: Buffer) => {
      texts.push(data.toString())
      // It opens the connection, and then the namespace.
      if (texts.length === 1) client.send('40')
      if (texts.length === 2) void logOut(agent)
    })
    const [code, reason] = await once(client, 'close')
    assert.deepEqual([code, String(reason), texts.at(-1)], [4401, 'session ended', '41'])
  })

  test('ends the connection of a client that does not answer', async (t) => {
    const { agent, session } = await newUser()
    // It would wait for the answer without limit.
    const sockets = new WebSocketServer(Object.assign({ host: '127.0.0.1', port: 0 }, { closeTimeout: 2 ** 31 - 1 }))
    t.after(() => sockets.close())
    sockets.on('connection', (socket) => auth.closeOnSessionEnd(socket, session))
    await once(sockets, 'listening')
    const client = connect((sockets.address() as AddressInfo).port, '127.0.0.1')
    client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n')
    client.write(`Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`)
    await once(client, 'data')
    await logOut(agent)
    await within(60, 'the connection ends', once(client, 'close'))
  })

  test('closes all connections where all sessions are ended', async (t) => {
    const connect = await startWs(t, auth, watch)
    const { agent } = await newUser()
    const connection = await opened(connect, agent)
    const told: SessionEnd[] = []
    const stop = auth.onSessionEnded((sessionEnd) => told.push(sessionEnd))
    await runCommandOf(service, ['sessions', 'revoke', '--all', '--yes'])
    assert.equal(await within(60, 'the end', connection.end), '4401 session ended')
    stop()
    assert.deepEqual(told, [{ sid: undefined, sub: undefined, reason: undefined, replacedBy: undefined }])
  })

  test('says what is wrong', () => {
    const session = { sid: 'session', sub: 'user' }
    const socket = { close: () => {} }
    const without = createAuth({ url: service.url })
    assert.throws(() => without.closeOnSessionEnd(socket, session), /needs the option "revocations"/)
    assert.throws(() => without.onSessionEnded(() => {}), /needs the option "revocations"/)
    assert.throws(() => auth.closeOnSessionEnd(socket, { sid: undefined, sub: 'user' }), /named by its sid/)
    // @ts-expect-error a user has an id
    assert.throws(() => auth.closeOnSessionEnd(socket, { sid: 'session', id: 'user' }), /named by its sid/)
    // @ts-expect-error no socket
    assert.throws(() => auth.closeOnSessionEnd({}, session), /takes a WebSocket/)
    // @ts-expect-error no function
    assert.throws(() => auth.onSessionEnded({}), /takes a function/)
  })
})

describe('onSessionEnded', () => {
  test('tells why, and what goes on, until it is told to stop; a callback that fails disturbs nothing', async (t) => {
    const printed = t.mock.method(console, 'error', () => {})
    const { agent, person, session } = await newUser()
    const told: SessionEnd[] = []
    const stops = [
      auth.onSessionEnded(() => {
        throw new Error('a mistake')
      }),
      auth.onSessionEnded(async () => Promise.reject(new Error('another'))),
      auth.onSessionEnded((sessionEnd) => told.push(sessionEnd)),
    ]
    await logIn(agent, person)
    const next = await auth.getUser({ headers: { cookie: cookiesOf(agent) } })
    await logOut(agent)
    await feedHasCome()
    for (const stop of stops) stop()
    assert.deepEqual(told.slice(0, 2), [
      { ...session, reason: 'replaced', replacedBy: next?.sid },
      { sid: next?.sid, sub: session.sub, reason: 'logout', replacedBy: undefined },
    ])
    assert.equal(printed.mock.callCount(), 2 * told.length)
    await logOut((await signedUp(service)).agent)
    await feedHasCome()
    assert.equal(told.length, 3)
  })
})
