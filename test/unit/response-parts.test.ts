// Runs once.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { sendParts, type StreamedResponse } from '../../src/http/response.ts'
import { startServer } from '../support/network/http-server.ts'

const PATIENCE_MS = 30_000

/** A client that has asked, and takes nothing; resolves to the response, and to a promise of its end. */
const connectDeafClient = async (
  t: TestContext,
  { parts, patienceMs }: Pick<StreamedResponse, 'parts' | 'patienceMs'>,
) => {
  const { promise: response, resolve } = Promise.withResolvers<{ outgoing: ServerResponse; done: Promise<void> }>()
  const url = await startServer(t, (_, outgoing) => {
    outgoing.writeHead(200)
    const content = { status: 200, contentType: 'text/plain', parts, ...(patienceMs && { patienceMs }) }
    const done = sendParts(outgoing, content)
    resolve({ outgoing, done })
  })
  const client = net.connect(Number(new URL(url).port), '127.0.0.1').pause()
  t.after(() => client.destroy())
  client.on('error', () => {}).write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  return { client, ...(await response) }
}

/** Parts without an end; counts those that were asked for. */
const endless = () => {
  const state = { asked: 0, isReturned: false }
  const parts = (async function* () {
    try {
      for (;;) {
        state.asked += 1
        yield 'x'.repeat(2 ** 16)
      }
    } finally {
      state.isReturned = true
    }
  })()
  return { parts, state }
}

const untilItAsksNoMore = async (state: { asked: number }): Promise<void> => {
  for (let last = 0; state.asked !== last; ) {
    last = state.asked
    for (let turn = 0; turn < 50; turn += 1) await setImmediate()
  }
}

test('a client that takes nothing is asked for no more parts, and is cut off when the patience ends', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, state } = endless()
  const { outgoing, done } = await connectDeafClient(t, { parts, patienceMs: PATIENCE_MS })
  await untilItAsksNoMore(state)
  t.mock.timers.tick(PATIENCE_MS - 1)
  await setImmediate()
  assert.deepEqual([outgoing.destroyed, state.isReturned], [false, false])
  t.mock.timers.tick(1)
  await done
  assert.deepEqual([outgoing.destroyed, state.isReturned], [true, true])
})

test('a client that takes late gets all that was sent, and is cut off by no patience of before', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, state } = endless()
  const { client, outgoing } = await connectDeafClient(t, { parts, patienceMs: PATIENCE_MS })
  await untilItAsksNoMore(state)
  t.mock.timers.tick(PATIENCE_MS - 1)
  const before = state.asked
  client.resume()
  while (state.asked < before + 100) await setImmediate()
  client.pause()
  await untilItAsksNoMore(state)
  t.mock.timers.tick(PATIENCE_MS - 1)
  await setImmediate()
  assert.equal(outgoing.destroyed, false)
})

test('where the client leaves, the parts end too, without an error', async (t) => {
  const { parts, state } = endless()
  const { client, done } = await connectDeafClient(t, { parts, patienceMs: PATIENCE_MS })
  await untilItAsksNoMore(state)
  client.destroy()
  await once(client, 'close')
  await done
  assert.ok(state.isReturned)
})
