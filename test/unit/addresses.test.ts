// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalAddress, networkOf } from '../../src/lib/address.ts'
import { createNetworkCheck, isNetwork } from '../../src/lib/network.ts'

const SPELLINGS: Record<string, readonly string[]> = {
  '198.51.100.8': [
    '198.51.100.8',
    '::ffff:198.51.100.8',
    '::FFFF:c633:6408',
    '0:0:0:0:0:ffff:c633:6408',
    '::ffff:c633:6408%eth0',
  ],
  '0.0.0.0': ['0.0.0.0', '::ffff:0:0'],
  '2001:db8::1': ['2001:db8::1', '2001:0db8::1', '2001:DB8:0::1', '2001:0db8:0000:0000:0000:0000:0000:0001'],
  '2001:db8:0:1:1:1:1:1': ['2001:db8:0:1:1:1:1:1', '2001:db8::1:1:1:1:1'],
  '1:0:0:2::3': ['1:0:0:2:0:0:0:3', '1::2:0:0:0:3'],
  'fe80::1': ['fe80::1', 'FE80::1%eth0', 'fe80:0::1%25'],
  '64:ff9b::102:304': ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  '::': ['::', '0:0:0:0:0:0:0:0', '::0.0.0.0'],
  '::1': ['::1', '0::1', '::0.0.0.1'],
}
for (const [canonical, spellings] of Object.entries(SPELLINGS)) {
  test(`an address has one spelling (RFC 5952): ${canonical}`, () => {
    for (const spelling of spellings) assert.equal(canonicalAddress(spelling), canonical, spelling)
  })
}

const NO_ADDRESSES = ['', ' ', '1.2.3', '01.2.3.4', '1.2.3.4.5', '256.1.1.1', '0x7f.1.1.1', '1.2.3.4%eth0', ' 1.2.3.4']
const NO_IPV6 = [
  ':',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  'g::1',
  '::ffff:1.2.3.400',
  '[::1]',
  '::1/64',
]
for (const text of [...NO_ADDRESSES, ...NO_IPV6, '%eth0', 'localhost', '::1\0', '١.2.3.4', 'x'.repeat(100_000)]) {
  test(`no address: ${JSON.stringify(text.slice(0, 30))}`, () => assert.equal(canonicalAddress(text), undefined))
}

const NETWORKS: Record<string, readonly string[]> = {
  '198.51.100.8': ['198.51.100.8', '::ffff:c633:6408'],
  '2001:db8:0:0::/64': ['2001:db8::', '2001:0db8::ffff:1', '2001:db8:0:0:1:2:3:4'],
  '2001:db8:0:1::/64': ['2001:db8:0:1::', '2001:db8:0:1:ffff:ffff:ffff:ffff', '2001:DB8::1:0:0:0:9'],
  '0:0:0:0::/64': ['::', '::1', '::198.51.100.8', '::0:0:0:1'],
  '1:2:3:4::/64': ['1:2:3:4:5:6:7:8', '1:2:3:4::', '1:2:3:4:5::', '1:2:3:4::192.0.2.1'],
  '1:2:3:0::/64': ['1:2:3::', '1:2:3:0:5:6:7:8', '1:2:3::5:6:7:8'],
  'fe80:0:0:0::/64': ['fe80::1%eth0', 'fe80::2'],
  unknown: ['unknown'],
}
for (const [network, addresses] of Object.entries(NETWORKS)) {
  test(`an address belongs to a network, which is the IPv4 address or the IPv6 /64: ${network}`, () => {
    for (const address of addresses) assert.equal(networkOf(address), network, address)
  })
}

const TRUST: [network: string, member: string, isIn: boolean][] = [
  ['2001:0DB8::/32', '2001:db8:ffff::1', true],
  ['2001:0DB8:0::1', '2001:db8::1', true],
  ['2001:0DB8:0::1', '2001:db8::2', false],
  ['::ffff:a00:1', '10.0.0.1', true],
  ['10.0.0.1', '::ffff:a00:1', true],
  ['10.0.0.0/8', '::ffff:a01:203', true],
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['::ffff:a00:0/104', '::ffff:a01:203', true],
  ['::ffff:10.0.0.0/104', '11.0.0.1', false],
  ['loopback', '0:0:0:0:0:0:0:1', true],
  ['loopback', '::ffff:7f00:1', true],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['loopback', 'no address', false],
  ['none', '127.0.0.1', false],
]
for (const [network, member, isIn] of TRUST) {
  test(`SVC_TRUST_PROXY=${network} ${isIn ? 'trusts' : 'does not trust'} ${member}`, () => {
    assert.ok(isNetwork(network))
    assert.equal(createNetworkCheck([network])(member), isIn)
  })
}
