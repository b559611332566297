// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientType } from '../../src/clients/client.ts'
import {
  findUriProblem,
  isLogoutUriOf,
  isOnHosts,
  isRedirectUriOf,
  kindOfRedirect,
} from '../../src/clients/redirect-uri.ts'
import { openRedirects, TREACHEROUS_PATHS } from '../support/client/open-redirects.ts'

const PORT = 8080
const TYPES: ClientType[] = ['web', 'native', 'browser']

const OF_ALL = [
  'https://app.example.net/callback',
  'https://app.example.net',
  'https://app.example.net/?a=1&b=%20',
  'https://app.example.net:8443/callback',
  'https://xn--bcher-kva.example/callback',
  'http://127.0.0.1/callback',
  'http://127.0.0.1:49152/callback',
  'http://[::1]/callback',
  'http://localhost:3000/callback?x=1',
  'http://localhost',
]

const OF_NATIVE = [
  'com.example.app:/callback',
  'com.example.app://callback',
  'cursor://anysphere.cursor-mcp/callback',
  'notes:cb',
]

test('a client has https and loopback URIs, and of type native private-use schemes', () => {
  for (const type of TYPES) for (const uri of OF_ALL) assert.equal(findUriProblem(uri, type), undefined, uri)
  for (const uri of OF_NATIVE) {
    assert.equal(findUriProblem(uri, 'native'), undefined, uri)
    for (const type of ['web', 'browser'] as const)
      assert.match(findUriProblem(uri, type) ?? '', /^must be an https URL/)
  }
})

const NEVER = [
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'java\nscript:alert(1)',
  ' javascript:alert(1)',
  'javascript://app/%0aalert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'vbscript:x',
  'blob:https://app.example.net/1',
  'about:blank',
  'view-source:https://app.example.net',
  'intent://app#Intent;end',
  'intent:x',
  'filesystem:https://a/t/x',
  'chrome://settings',
  'ws://app.example.net',
  'ftp://app.example.net/x',
  'mailto:a@b.example',
  'web+app:x',
  'urn:ietf:wg:oauth:2.0:oob',
  'http://app.example.net/callback',
  'http://127.0.0.2/',
  'http://127.1/',
  'http://0x7f000001/',
  'http://localhost./',
  'http://localhost.evil.example/',
  'http://127.0.0.1.evil.example/',
  'http://127.0.0.1@evil.example/',
  'http://[::ffff:127.0.0.1]/',
  'http://localhost:99999/',
  'http://localhost:/x',
  'https://user@app.example.net/',
  'https://user:pw@app.example.net/',
  'https://@app.example.net/',
  'https://app.example.net/#',
  'https://app.example.net/#x',
  'com.example.app:/x#y',
  'com.example.app://user@host/',
  'https://app.example.net\\@evil.example/',
  'https://app.example.net/a b',
  'https://app.example.net/\u00e9',
  'https://app.example.net/<x>',
  'https:app.example.net',
  'https:///app.example.net',
  'https://',
  '*',
  'https://*/',
  '',
  'https://APP.example.net/',
  'HTTPS://app.example.net/',
  'https://app.example.net/a/../b',
  'https://app.example.net/%2e%2e/b',
  'https://app.example.net:443/',
  'https://%61pp.example.net/',
  `https://app.example.net/${'a'.repeat(1000)}`,
]

test('no client has a URI that browsers handle themselves, that is read in several ways, or leads elsewhere', () => {
  for (const type of TYPES) {
    for (const uri of NEVER) assert.ok(findUriProblem(uri, type), `${type} ${JSON.stringify(uri)}`)
    for (const uri of openRedirects(PORT)) {
      // These are addresses of sites, though not of the one that a page would go back to.
      const isSite = /^https:\/\/evil\.example$|^http:\/\/localhost:8080\/x$/.test(uri)
      assert.equal(findUriProblem(uri, type) === undefined, isSite, `${type} ${JSON.stringify(uri)}`)
    }
  }
})

const CLIENT = {
  redirectUris: [
    'https://app.example.net/callback',
    'http://127.0.0.1:8080/cb?x=1',
    'http://[::1]/cb',
    'com.example.app:/cb',
  ],
}

test('a redirect URI is compared byte for byte, but for the port of loopback', () => {
  for (const uri of CLIENT.redirectUris) assert.ok(isRedirectUriOf(CLIENT, uri), uri)
  for (const uri of [
    'http://127.0.0.1/cb?x=1',
    'http://127.0.0.1:1/cb?x=1',
    'http://127.0.0.1:65535/cb?x=1',
    'http://[::1]:49152/cb',
  ])
    assert.ok(isRedirectUriOf(CLIENT, uri), uri)
})

test('nothing else matches: no other path, host, scheme, case, dots, user, fragment, and nothing of the open-redirect corpus', () => {
  const own = 'https://app.example.net/callback'
  const near = [
    `${own}/`,
    `${own}?`,
    `${own}?x`,
    `${own}#`,
    `${own}#x`,
    `${own}/../callback`,
    `${own}%00`,
    `${own} `,
    ` ${own}`,
    `${own}\n`,
    `${own}.evil.example`,
    'https://app.example.net',
    'https://app.example.net/',
    'https://app.example.net/Callback',
    'https://APP.example.net/callback',
    'https://app.example.net:443/callback',
    'https://app.example.net:8443/callback',
    'https://app.example.net./callback',
    'https://user@app.example.net/callback',
    'https://app.example.net@evil.example/callback',
    'https://evil.example\\@app.example.net/callback',
    'https://app.example.net/%63allback',
    'http://app.example.net/callback',
    'http://127.0.0.1:8080/cb',
    'http://127.0.0.1:8080/cb?x=2',
    'http://127.0.0.1:99999/cb?x=1',
    'http://127.0.0.1:/cb?x=1',
    'http://127.0.0.1:80a/cb?x=1',
    'http://127.0.0.1:1:2/cb?x=1',
    'http://127.0.0.1@evil.example/cb?x=1',
    'http://127.0.0.1:1@evil.example/cb?x=1',
    'http://127.0.0.1.evil.example/cb?x=1',
    'http://localhost:8080/cb?x=1',
    'https://127.0.0.1:8080/cb?x=1',
    'http://127.0.0.1:8080/cb?x=1#',
    'http://127.0.0.1:8080/\\cb?x=1',
    'http://[::1]/cb/',
    'http://[::1%25eth0]/cb',
    'com.example.app:/cb/',
    'com.example.app://cb',
    'COM.example.app:/cb',
    'com.example.app:/cb?',
    '',
  ]
  const all = [
    ...near,
    ...openRedirects(PORT),
    ...TREACHEROUS_PATHS.flatMap((path) => [path, `https://app.example.net${path}`]),
  ]
  for (const uri of all) {
    assert.ok(!isRedirectUriOf(CLIENT, uri), JSON.stringify(uri))
    assert.ok(!isLogoutUriOf({ logoutUris: CLIENT.redirectUris }, uri), JSON.stringify(uri))
  }
})

test('of a client that nobody has checked, loopback counts, and what is on a host or of a scheme of the settings', () => {
  const hosts = ['agent.example', 'cursor:']
  for (const uri of [
    'http://localhost/cb',
    'https://agent.example/cb',
    'https://agent.example:8443/cb',
    'cursor://x/cb',
  ])
    assert.ok(isOnHosts(uri, hosts), uri)
  for (const uri of [
    'https://evil.example/cb',
    'https://sub.agent.example/cb',
    'https://agent.example.evil.example/cb',
    'vscode://x/cb',
    'https://cursor/cb',
  ])
    assert.ok(!isOnHosts(uri, hosts), uri)
})

test('https, loopback and private-use URIs are told apart', () => {
  assert.equal(kindOfRedirect('https://localhost/cb'), 'https')
  assert.equal(kindOfRedirect('http://localhost:1/cb'), 'loopback')
  assert.equal(kindOfRedirect('notes:/cb'), 'private-use')
})
