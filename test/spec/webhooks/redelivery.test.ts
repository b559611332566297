// Runs on SQLite and PostgreSQL.
import assert from 'node:assert/strict'
import { type TestContext, describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { openDatabase } from '../../support/database/database.ts'
import { startWebhookReceiver, status } from '../../support/network/webhook-receiver.ts'
import { runCommandOf, runJsonCommandOf } from '../../support/service/operator-commands.ts'
import { type Service, startService } from '../../support/service/service.ts'
import { eventually } from '../../support/wait.ts'

interface Attempt {
  number: number
  ended_at: string
  duration_ms: number
  status: number | null
  problem: string | null
  outcome: string
}

interface Event {
  id: string
  state: string
  attempts: number
  history: Attempt[]
}

const HOUR_MS = 3_600_000

const listEvents = (service: Service): Promise<Event[]> => runJsonCommandOf<Event[]>(service, ['webhooks', 'list'])

/** A service whose receiver has refused the events of `count` signups, and their ids, oldest first. */
const failing = async (t: TestContext, count: number) => {
  const receiver = await startWebhookReceiver({ t })
  receiver.answerWith(status(500))
  const env = { SVC_WEBHOOK_URL: receiver.url, SVC_WEBHOOK_SECRET: 'a secret of enough bytes' }
  const service = await startService({ t, env })
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    await signedUp(service)
    ids.push((await receiver.received(index + 1)).at(-1)?.event.id ?? '')
  }
  const database = await openDatabase(service, t)
  const settled = (what: 'failed' | 'delivered', expected: number) =>
    eventually(`${expected} events are ${what}`, async () => {
      const rows = await database.rows('SELECT delivered_at FROM webhook_events WHERE closed_at IS NOT NULL')
      return rows.filter(({ delivered_at: at }) => (at === null) === (what === 'failed')).length === expected
    })
  await settled('failed', count)
  return { receiver, service, ids, database, settled }
}

const assertUsage = async (service: Service, args: string[], message: RegExp) => {
  const { code, stdout, stderr } = await service.cli(['webhooks', 'redeliver', ...args])
  assert.equal(code, 2, stderr)
  assert.match(stderr, message)
  assert.equal(stdout, '')
}

describe('§8.1 svc webhooks', { concurrency: 2 }, () => {
  test('show ID and list --json include the result of each attempt, also from before a redelivery', async (t) => {
    const { receiver, service, ids, settled } = await failing(t, 1)
    const [id = ''] = ids
    receiver.answerWith(status(204))
    await runCommandOf(service, ['webhooks', 'redeliver', id])
    await settled('delivered', 1)
    const shown = await runJsonCommandOf<Event>(service, ['webhooks', 'show', id])
    assert.equal(shown.state, 'delivered')
    assert.equal(shown.attempts, 1, 'since it was sent again')
    assert.deepEqual(
      shown.history.map(({ number, status: answered, problem, outcome }) => [number, answered, problem, outcome]),
      [
        [1, 500, 'answered 500', 'failed'],
        [2, 204, null, 'delivered'],
      ],
    )
    for (const { ended_at, duration_ms } of shown.history) {
      assert.match(ended_at, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
      assert.ok(Number.isInteger(duration_ms) && duration_ms >= 0)
    }
    const [listed] = await listEvents(service)
    assert.deepEqual(listed?.history, shown.history)
    const text = await runCommandOf(service, ['webhooks', 'show', id])
    assert.match(
      text,
      new RegExp(`${id}[\\s\\S]+delivered \\(204\\)[\\s\\S]+1 +failed .+ ms +answered 500\\n2 +delivered`),
    )
    const unknown = await service.cli(['webhooks', 'show', 'nothing'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.stderr, /no webhook event nothing/)
  })

  test('redeliver --failed --since 24h: the events that failed since then, and no others; without --since all failed ones', async (t) => {
    const { receiver, service, ids, database, settled } = await failing(t, 3)
    const [longAgo = '', ...recent] = ids
    const [row] = await database.rows('SELECT closed_at FROM webhook_events WHERE id = ?', longAgo)
    const before = Number(row?.closed_at) - 24 * HOUR_MS - 60_000
    await database.rows('UPDATE webhook_events SET closed_at = ? WHERE id = ?', before, longAgo)
    receiver.answerWith(status(204))
    const args = ['webhooks', 'redeliver', '--failed']
    assert.equal(
      await runCommandOf(service, [...args, '--since', '24h']),
      '2 failed events are sent again by the running service.\n',
    )
    const received = await receiver.received(5)
    assert.deepEqual(
      received
        .slice(3)
        .map(({ event }) => event.id)
        .toSorted(),
      recent,
    )
    await settled('delivered', 2)
    const states = new Map((await listEvents(service)).map(({ id, state }) => [id, state]))
    assert.deepEqual(
      ids.map((id) => states.get(id)),
      ['failed', 'delivered', 'delivered'],
    )
    assert.deepEqual(await runJsonCommandOf(service, args), { redelivered: 1 })
    await settled('delivered', 3)
    assert.equal(await runCommandOf(service, args), '0 failed events to send again.\n')
  })

  test('redeliver --failed --deliver sends the events itself, the oldest first, and fails when one fails', async (t) => {
    const { receiver, service, ids } = await failing(t, 3)
    await service.stop()
    const refused = await service.cli(['webhooks', 'redeliver', '--failed', '--deliver'])
    assert.equal(refused.code, 1)
    assert.equal(refused.stdout, '3 failed events sent again: 0 delivered, 0 waiting, 3 failed.\n')
    assert.match(refused.stderr, /^svc: 3 events failed again/m)
    assert.deepEqual(
      receiver.deliveries
        .slice(3)
        .map(({ event }) => event.id)
        .toSorted(),
      ids,
    )
    receiver.answerWith(status(204))
    const delivered = { redelivered: 3, delivered: 3, waiting: 0, failed: 0 }
    assert.deepEqual(await runJsonCommandOf(service, ['webhooks', 'redeliver', '--failed', '--deliver']), delivered)
    const { history } = await runJsonCommandOf<Event>(service, ['webhooks', 'show', ids[0] ?? ''])
    assert.deepEqual(
      history.map(({ number, outcome }) => [number, outcome]),
      [
        [1, 'failed'],
        [2, 'failed'],
        [3, 'delivered'],
      ],
    )
  })

  test('redeliver: exactly one of an id and --failed; --since is a duration and requires --failed', async (t) => {
    const service = await startService({ t })
    await service.stop()
    await assertUsage(service, [], /id of an event, or --failed/)
    await assertUsage(service, ['some-id', '--failed'], /not both/)
    await assertUsage(service, ['some-id', '--since', '24h'], /--since needs --failed/)
    await assertUsage(service, ['--since', '24h'], /or --failed/)
    for (const since of ['24', '1d', '-24h', '', '0s', 'yesterday', '99999999999999999h'])
      await assertUsage(service, ['--failed', `--since=${since}`], /duration such as/)
    const off = await service.cli(['webhooks', 'redeliver', '--failed'])
    assert.equal(off.code, 1)
    assert.match(off.stderr, /SVC_WEBHOOK_URL/)
  })
})
