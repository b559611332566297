// Runs once.
import assert from 'node:assert/strict'
import net from 'node:net'
import path from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { signedUp } from '../support/client/accounts.ts'
import { createUserAgent, type UserAgent } from '../support/client/user-agent.ts'
import { startEchoApplication } from '../support/gateway/echo-application.ts'
import { startGateway } from '../support/gateway/gateway.ts'
import { documentedBlock, readDocument, replaced } from '../support/gateway/gateway-configuration.ts'
import { type Replicas, startReplicaProcesses } from '../support/service/replicas.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { eventually } from '../support/wait.ts'

const drain = /`SVC_DRAIN=(\d+s)`/.exec(readDocument('scaling.md'))?.[1]

const app = await startEchoApplication()

/** The backend of docs/scaling.md in the configuration of deploy/, with a socket for its state. */
const replicated = (text: string, [one, other]: Replicas, socket: string): string => {
  const backend = documentedBlock('haproxy', 'scaling.md')
  const servers = replaced(
    replaced(backend, '10.0.0.11:8080', `127.0.0.1:${one.port}`),
    '10.0.0.12:8080',
    `127.0.0.1:${other.port}`,
  )
  return `global\n  stats socket ${socket}\n${text.replace(/^backend svc\n(?: .*\n)+/m, servers)}`
}

/** HAProxy's answer to a command. */
const askHaproxy = (socket: string, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    net
      .connect(socket)
      .on('data', (piece) => (text += piece.toString()))
      .on('end', () => resolve(text))
      .on('error', reject)
      .end(`${command}\n`)
  })

/** The state of a replica for HAProxy: `UP`, `DOWN` or changing. */
const stateOf = async (socket: string, server: string): Promise<string> => {
  const [titles = '', ...lines] = (await askHaproxy(socket, 'show stat')).split('\n')
  const column = titles.split(',').indexOf('status')
  return lines.find((line) => line.startsWith(`svc,${server},`))?.split(',')[column] ?? 'unknown'
}

const setUp = async (t: TestContext) => {
  const replicas = await startReplicaProcesses({ t, env: { SVC_DRAIN: drain } })
  const folder = temporaryDirectory(t)
  const socket = path.join(folder, 'socket')
  const gateway = await startGateway('HAProxy', {
    svc: replicas[0].port,
    app,
    t,
    folder,
    change: (text) => replicated(text, replicas, socket),
  })
  const { agent } = await signedUp({ url: `http://localhost:${gateway}` })
  return { replicas, socket, agent }
}

/** Requests the user again and again, on new and old connections, until it is stopped. */
const keepAsking = (agent: UserAgent) => {
  const statuses: number[] = []
  const stop = new AbortController()
  const ask = async (one: UserAgent) => {
    for (; !stop.signal.aborted; await sleep(5)) statuses.push((await one.get('/auth/api/v1/user')).status)
  }
  const asking = Promise.all(
    [agent, createUserAgent(agent, agent.cookies), createUserAgent(agent, agent.cookies)].map(ask),
  )
  return {
    statuses,
    async stop() {
      stop.abort()
      await asking
    },
  }
}

const assertAllSucceed = (statuses: number[]): void =>
  assert.deepEqual(
    statuses.filter((status) => status !== 200),
    [],
    `of ${statuses.length}`,
  )

describe('two replicas behind HAProxy', { concurrency: true }, () => {
  test('one is killed: no request fails', async (t) => {
    const { replicas, socket, agent } = await setUp(t)
    const load = keepAsking(agent)
    await eventually('requests are answered', () => load.statuses.length > 100)
    await replicas[0].kill()
    for (let round = 0; round < 10; round += 1) assert.equal((await agent.refresh()).status, 200)
    const sinceKill = load.statuses.length
    await eventually('HAProxy has noticed', async () => (await stateOf(socket, 'svc1')) === 'DOWN')
    await eventually('requests are answered', () => load.statuses.length > sinceKill + 100)
    await load.stop()
    assertAllSucceed(load.statuses)
  })

  test('one is stopped: HAProxy stops using it before it ends, and no request fails', async (t) => {
    const { replicas, socket, agent } = await setUp(t)
    const load = keepAsking(agent)
    await eventually('requests are answered', () => load.statuses.length > 100)
    let hasEnded = false
    const stopped = replicas[0].stop().finally(() => (hasEnded = true))
    await eventually('HAProxy has noticed', async () => (await stateOf(socket, 'svc1')) === 'DOWN')
    assert.equal(hasEnded, false, 'SVC_DRAIN is shorter than the checks')
    assert.equal(await stopped, 0)
    assert.equal((await agent.refresh()).status, 200)
    await load.stop()
    assertAllSucceed(load.statuses)
  })
})
