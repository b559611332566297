// Runs on SQLite.
import assert from 'node:assert/strict'
import type { OutgoingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { loggedRequest } from '../../support/service/request-log.ts'
import { type Service, startService } from '../../support/service/service.ts'

const byDefault = await startService()
const nobody = await startService({ env: { SVC_TRUST_PROXY: '192.0.2.1' } })
const network = await startService({ env: { SVC_TRUST_PROXY: 'loopback, 10.0.0.0/8, 2001:db8::/32' } })

/** The address of the client in the log line of its request. */
const clientOf = async (service: Service, headers: OutgoingHttpHeaders): Promise<unknown> => {
  const answer = await createUserAgent(service).get('/auth/login', headers)
  assert.equal(answer.status, 200)
  return (await loggedRequest(service, answer)).client
}

const table: [string, Service, string | string[], string][] = [
  ['loopback is believed by default', byDefault, '203.0.113.7', '203.0.113.7'],
  [
    'walked from the right: what a client made up on the left is not looked at',
    byDefault,
    '1.1.1.1, 203.0.113.7',
    '203.0.113.7',
  ],
  ['walked over trusted addresses', byDefault, '203.0.113.7, 127.0.0.1', '203.0.113.7'],
  ['several headers are one list', byDefault, ['1.1.1.1', '203.0.113.7'], '203.0.113.7'],
  ['IPv6', byDefault, '2001:db8::1', '2001:db8::1'],
  ['an address that is not trusted is not believed', nobody, '203.0.113.7', '127.0.0.1'],
  ['CIDRs are walked over', network, '203.0.113.7, 10.1.2.3, 10.255.0.1', '203.0.113.7'],
  ['CIDRs of IPv6 are walked over', network, '203.0.113.7, 2001:db8:1::5', '203.0.113.7'],
  ['an address has one spelling, however it is sent: IPv6', byDefault, '2001:0DB8:0::1', '2001:db8::1'],
  ['an address has one spelling: with a port', byDefault, '[2001:0DB8:0::1]:443', '2001:db8::1'],
  ['an address has one spelling: without a zone', byDefault, 'FE80::1%eth0', 'fe80::1'],
  ['an address has one spelling: IPv4 as IPv6', byDefault, '::ffff:203.0.113.7', '203.0.113.7'],
  ['an address has one spelling: IPv4 as IPv6 in hexadecimal', byDefault, '::FFFF:cb00:7107', '203.0.113.7'],
  [
    'addresses are compared as bytes, however a proxy writes them',
    network,
    '203.0.113.7, ::ffff:a01:203',
    '203.0.113.7',
  ],
  ['addresses are compared as bytes, IPv6 too', network, '203.0.113.7, 2001:0DB8:0:0::5', '203.0.113.7'],
  ['an address next to a CIDR is not of it', network, '203.0.113.7, 11.0.0.1', '11.0.0.1'],
]
for (const [what, service, forwarded, expected] of table) {
  test(`SVC_TRUST_PROXY: addresses whose X-Forwarded-For is trusted: ${what}`, async () => {
    assert.equal(await clientOf(service, { 'x-forwarded-for': forwarded }), expected)
  })
}

for (const nonsense of ['', 'unknown', 'x'.repeat(5000), '203.0.113.7, evil', "';--", '999.1.1.1', ',,,', '<script>']) {
  test(`an X-Forwarded-For that is no address is ignored: ${nonsense.slice(0, 30)}`, async () => {
    const client = await clientOf(byDefault, { 'x-forwarded-for': nonsense })
    assert.equal(client, '127.0.0.1')
  })
}
