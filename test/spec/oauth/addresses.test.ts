// Runs on SQLite.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import path from 'node:path'
import { describe, test } from 'node:test'
import { afterwards } from '../../support/cleanup.ts'
import { assertErrorPage } from '../../support/client/assertions.ts'
import { createUserAgent } from '../../support/client/user-agent.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import { startServiceProcessWith } from '../../support/provider/provider-service.ts'
import { loggedLine } from '../../support/service/request-log.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const listening = async <S extends net.Server>(server: S): Promise<number> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(undefined, async () => void server.close())
  return (server.address() as AddressInfo).port
}

// Something on this machine that a provider elsewhere would have the service ask.
let knocks = 0
const inner = await listening(
  net.createServer((socket) => {
    knocks += 1
    socket.destroy()
  }),
)

const PLACES = ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'] as const
const ADDRESSES = {
  plain: `http://127.0.0.1:${inner}/x`,
  name: `https://localhost:${inner}/x`,
  dot: `https://localhost.:${inner}/x`,
  other: `https://127.0.0.2:${inner}/x`,
  decimal: `http://2130706433:${inner}/x`,
  mapped: `https://[::ffff:127.0.0.1]:${inner}/x`,
  unspecified: `http://0.0.0.0:${inner}/x`,
}
const cases = PLACES.flatMap((place) => Object.entries(ADDRESSES).map(([how, url]) => ({ place, how, url })))
const nameOf = ({ place, how }: { place: string; how: string }): string => `${place.slice(0, 4)}${how}`

const authority = createAuthority('Authority of the tests')
const { certificate, key } = authority.issue('id.corp.example', 'id.corp.example')
const provider = https.createServer({ cert: certificate, key }, (request, response) => {
  const name = request.url?.split('/')[1] ?? ''
  const issuer = `${origin}/${name}`
  const found = cases.find((it) => nameOf(it) === name)
  const endpoints = Object.fromEntries(PLACES.map((place) => [place, `${issuer}/${place}`]))
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ issuer, ...endpoints, ...(found && { [found.place]: found.url }) }))
})
const origin = `https://id.corp.example:${await listening(provider)}`
afterwards(undefined, async () => provider.closeAllConnections())

const directory = temporaryDirectory()
const rootFile = path.join(directory, 'root.pem')
writeFileSync(rootFile, authority.root)
const client = { clientId: 'svc', clientSecret: 'a secret of the client' }
const names = ['good', ...cases.map(nameOf)]
const service = await startServiceProcessWith(
  Object.fromEntries(names.map((name) => [name, { issuer: `${origin}/${name}`, ...client }])),
  {
    env: {
      NODE_EXTRA_CA_CERTS: rootFile,
      NODE_OPTIONS: `--import=${new URL('../../support/network/host-name-tap.ts', import.meta.url).href}`,
    },
  },
)

test('a provider with https whose addresses are its own: the browser is sent there', async () => {
  const answer = await createUserAgent(service).post('/auth/oauth/good')
  assert.equal(answer.status, 303, answer.text)
  assert.ok(answer.location?.startsWith(`${origin}/good/authorization_endpoint?`), answer.location)
})

describe('addresses on loopback are accepted only where the issuer is on loopback', () => {
  for (const one of cases) {
    test(`${one.place}: ${one.how}`, async () => {
      const answer = await createUserAgent(service).post(`/auth/oauth/${nameOf(one)}`)
      assertErrorPage(answer, 503)
      const line = await loggedLine(
        service,
        ({ message, request_id }) =>
          message === 'sign-in by a provider failed' && request_id === answer.headers['x-request-id'],
      )
      assert.match(String(line.cause), /on this machine, and the provider is not/)
      assert.equal(knocks, 0, 'no address on this machine was requested')
    })
  }
})
