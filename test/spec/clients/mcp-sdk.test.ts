// Runs on SQLite.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/client'
import { afterwards } from '../../support/cleanup.ts'
import { signedUp } from '../../support/client/accounts.ts'
import { allow, answerToClient, CLIENT_SETTINGS, madeClient } from '../../support/clients/authorization.ts'
import { assertLive, userInfo } from '../../support/clients/tokens.ts'
import { startService } from '../../support/service/service.ts'

// See the user agent.
const http = process.getBuiltinModule('node:http')

const REDIRECT = 'http://127.0.0.1/callback'

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
const service = await startService({ env: { ...CLIENT_SETTINGS, SVC_CLIENT_RESOURCES: resource } })
issuer = `${service.url}/auth`

type Stored = Awaited<ReturnType<OAuthClientProvider['tokens']>>

/** A program that keeps what the SDK hands it. */
const createProgram = (clientId: string) => {
  const kept: { tokens?: Stored; verifier?: string; address?: URL } = {}
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1:49152/callback',
    clientMetadata: { client_name: 'Agent', redirect_uris: ['http://127.0.0.1:49152/callback'] },
    clientInformation: () => ({ client_id: clientId }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (address) => {
      kept.address = address
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier ?? assert.fail('no verifier'),
  }
  return { kept, provider }
}

test('the MCP SDK finds svc, gets tokens through its pages, and refreshes them', async () => {
  const client = await madeClient(service, { name: 'Agent', redirectUri: REDIRECT, options: ['--type', 'native'] })
  const { kept, provider } = createProgram(client.id)
  assert.equal(await auth(provider, { serverUrl: resource, scope: 'openid notes:read' }), 'REDIRECT')
  const { agent } = await signedUp(service)
  const address = kept.address ?? assert.fail('no address')
  assert.equal(address.searchParams.get('resource'), resource)
  const answer = await allow(agent, await agent.get(address.pathname + address.search))
  const parameters = answerToClient(answer, 'http://127.0.0.1:49152/callback')
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
