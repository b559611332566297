// Runs once.
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { createSharedAddressCheck } from '../../src/http/transport/shared-address.ts'
import { turnedClock } from '../support/clock/turned-clock.ts'

const HOUR_MS = 60 * 60 * 1000
const own = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? [])

const start = (baseUrl = 'http://[2001:DB8::1]:8080') => {
  const clock = turnedClock()
  const isShared = createSharedAddressCheck({ baseUrl, clock })
  return { clock, isShared, five: (client: string) => ['a', 'b', 'c', 'd', 'e'].map((each) => isShared(client, each)) }
}
const NEVER = [false, false, false, false, false]
const AT_LAST = [false, false, false, false, true]

for (const client of [
  '10.1.2.3',
  '172.31.0.1',
  '192.168.1.1',
  '100.64.0.1',
  'fd00::1',
  'fe80::1',
  '2001:db8::1',
  ...own,
])
  test(`the fifth browser from ${client} shows that it is shared`, () =>
    assert.deepEqual(start().five(client), AT_LAST))

for (const client of ['203.0.113.7', '172.32.0.1', '100.128.0.1', '2001:db8::2', 'no address'])
  test(`an office may be behind ${client}`, () => {
    const { five } = start()
    for (let round = 0; round < 3; round += 1) assert.deepEqual(five(client), NEVER)
  })

test('another address between begins again', () => {
  const { five, isShared } = start()
  for (let round = 0; round < 3; round += 1) {
    for (const browser of ['a', 'b', 'c', 'd', 'd']) assert.equal(isShared('10.0.0.5', browser), false)
    assert.equal(isShared(round === 1 ? '203.0.113.7' : '10.0.0.6', 'e'), false)
  }
  assert.deepEqual(five('10.0.0.5'), AT_LAST)
})

test('five within a day count, also those without a name; one browser and its updates over the year do not', async () => {
  const { clock, isShared } = start()
  for (let version = 0; version < 50; version += 1) {
    assert.equal(isShared('10.0.0.5', `Browser ${version}`), false)
    await clock.turnTo((version + 1) * 7 * HOUR_MS)
  }
  await clock.turnTo(500 * HOUR_MS)
  for (const browser of [undefined, 'b', 'c', 'd']) assert.equal(isShared('10.0.0.5', browser), false)
  await clock.turnTo(523 * HOUR_MS)
  assert.equal(isShared('10.0.0.5', 'e'), true)
})
