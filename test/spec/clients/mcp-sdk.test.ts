// Runs on SQLite, alone.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { auth } from '@modelcontextprotocol/client'
import { afterwards } from '../../support/cleanup.ts'
import { newAgent, signedUp } from '../../support/client/accounts.ts'
import { allowAfterLogin, answerToClient, CLIENT_SETTINGS, madeClient } from '../../support/clients/authorization.ts'
import { LOOPBACK_URI, startDocumentHost } from '../../support/clients/document-host.ts'
import { createProgram } from '../../support/clients/mcp-program.ts'
import { assertLive, userInfo } from '../../support/clients/tokens.ts'
import { startService } from '../../support/service/service.ts'

// See the user agent.
const http = process.getBuiltinModule('node:http')

const REDIRECT = 'http://127.0.0.1:49152/callback'

/** The MCP endpoint says which server its tokens come from (RFC 9728). */
let issuer = ''
const endpoint = http.createServer((request, response) => {
  const isKnown = request.url?.startsWith('/.well-known/oauth-protected-resource') === true
  const document = { resource, authorization_servers: [issuer], scopes_supported: ['notes:read'] }
  response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(document))
})
endpoint.listen(0, '127.0.0.1')
await once(endpoint, 'listening')
afterwards(undefined, () => endpoint.close())
const resource = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/mcp`
const env = {
  ...CLIENT_SETTINGS,
  SVC_CLIENT_RESOURCES: resource,
  SVC_CLIENT_HOSTS: 'localhost',
  SVC_CLIENT_REGISTRATION: 'on',
}
const service = await startService({ env })
const documents = await startDocumentHost()
issuer = `${service.url}/auth`

const { person } = await signedUp(service)

/** How svc knows the program, and the id that it has then. */
const WAYS: Record<string, () => Promise<{ program: ReturnType<typeof createProgram>; id: RegExp }>> = {
  'with a client made by command': async () => {
    const client = await madeClient(service, { redirectUri: LOOPBACK_URI, options: ['--type', 'native'] })
    return {
      program: createProgram(REDIRECT, { client: { client_id: client.id, issuer } }),
      id: new RegExp(`^${client.id}$`),
    }
  },
  'with a metadata document': async () => {
    const documentUrl = documents.publish('agent')
    return { program: createProgram(REDIRECT, { documentUrl }), id: new RegExp(`^${documentUrl}$`) }
  },
  'by registration': async () => ({ program: createProgram(REDIRECT, {}), id: /^[\w-]{20,}$/ }),
}

for (const [way, prepare] of Object.entries(WAYS)) {
  test(`the MCP SDK finds svc, gets tokens through its pages ${way}, and refreshes them`, async () => {
    const { program, id } = await prepare()
    const { kept, provider } = program
    assert.equal(await auth(provider, { serverUrl: resource, scope: 'openid notes:read' }), 'REDIRECT')
    const address = kept.address ?? assert.fail('no address')
    assert.equal(address.searchParams.get('resource'), resource)
    assert.match(address.searchParams.get('client_id') ?? '', id)
    const parameters = answerToClient(await allowAfterLogin(newAgent(service), address, person), REDIRECT)
    const authorizationCode = parameters.get('code') ?? assert.fail('no code')
    const iss = parameters.get('iss') ?? assert.fail('no iss')
    assert.equal(await auth(provider, { serverUrl: resource, authorizationCode, iss }), 'AUTHORIZED')
    const first = kept.tokens ?? assert.fail('no tokens')
    assert.equal((await userInfo(service, first.access_token)).status, 200)
    assert.equal(await auth(provider, { serverUrl: resource }), 'AUTHORIZED')
    const next = kept.tokens ?? assert.fail('no tokens')
    assert.notEqual(next.refresh_token, first.refresh_token)
    await assertLive(service, { access: next.access_token, refresh: next.refresh_token ?? '', scope: next.scope ?? '' })
  })
}
