// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newAgent, signedUp } from '../../support/client/accounts.ts'
import type { Answer } from '../../support/client/user-agent.ts'
import {
  authorizePath,
  CLIENT_SETTINGS,
  codeFor,
  madeClient,
  REDIRECT_URI,
} from '../../support/clients/authorization.ts'
import { type Server, startOracle } from '../../support/clients/oracle.ts'
import {
  basic,
  type ClientAnswer,
  get,
  type Made,
  send,
  tokensIn,
  userInfo,
  VERIFIER,
} from '../../support/clients/tokens.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService({ env: CLIENT_SETTINGS })
const trusted = ['--first-party']
const clients = {
  web: await madeClient(service, { options: trusted }),
  phone: await madeClient(service, { options: [...trusted, '--type', 'native'] }),
  asking: await madeClient(service),
}
const { agent } = await signedUp(service)
const svc: Server = { url: service.url, issuer: `${service.url}/auth`, agent, stranger: newAgent(service), ...clients }
const oracle = await startOracle(clients, authorizePath(clients.web.id, { scope: 'openid' }))

/** What oidc-provider answers, and why svc does not. */
type Difference = [answer: string, because: string]
type Row<Ask> = [title: string, ask: Ask, answer: string, difference?: Difference]

const compare = <Ask>(rows: readonly Row<Ask>[], answerOf: (server: Server, ask: Ask) => Promise<string>): void => {
  for (const [title, ask, answer, [differs, because] = [answer, '']] of rows) {
    test(`${title}: ${answer}${because && `, and not ${differs}: ${because}`}`, async () => {
      assert.equal(await answerOf(svc, ask), answer, 'svc')
      assert.equal(await answerOf(oracle, ask), differs, 'oidc-provider')
    })
  }
}

type Changes = Record<string, string | undefined>
type Authorize = {
  client?: 'web' | 'phone' | 'asking' | 'nobody'
  agent?: 'stranger'
  with?: Changes | ((server: Server) => Promise<Changes>)
  /** Put behind the query. */
  more?: string
}

/** Where the browser is sent, in one word. */
const placeOf = (server: Server, { status, location, headers, text }: Answer): string => {
  const address = location ?? String(headers.refresh ?? '').replace(/^0;url=/, '')
  if (!address.startsWith(REDIRECT_URI)) {
    assert.ok(!address.startsWith('https:') && !address.includes('evil'), address)
    if (status >= 400) return `a page of ${status}`
    return text.includes(`action="${REDIRECT_URI}"`) ? 'a form' : 'the user is asked'
  }
  const [, mark, answer = ''] = /^.*?callback([?#])(.*)$/.exec(address) ?? []
  if (mark !== '?') return 'a fragment'
  const told = new URLSearchParams(answer)
  assert.equal(told.get('iss'), server.issuer)
  const state = told.has('state') ? '' : ', without state'
  return (told.get('error') ?? (told.has('code') ? 'a code' : 'nothing')) + state
}

/** An ID token of a client for the user of `agent`. */
const idTokenOf = async (server: Server, { id, secret = '' }: Made): Promise<string> => {
  const code = await codeFor(server.agent, id, { scope: 'openid' })
  const fields = { grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: REDIRECT_URI }
  return tokensIn(await send(server, 'token', fields, basic(id, secret))).id ?? assert.fail('no ID token')
}

const authorize = async (server: Server, { client = 'web', agent, more = '', with: given = {} }: Authorize) => {
  const id = client === 'nobody' ? 'nobody' : server[client].id
  const changes = typeof given === 'function' ? await given(server) : given
  const path = authorizePath(id, { scope: 'openid', ...changes }) + more
  return placeOf(server, await server[agent ?? 'agent'].get(path))
}

describe('authorize', () => {
  compare<Authorize>(
    [
      ['a good request', {}, 'a code'],
      ['of a public client', { client: 'phone' }, 'a code'],
      ['with parameters that nobody knows', { more: '&foo=1&foo=2' }, 'a code'],
      ['with empty parameters', { with: { nonce: '', prompt: '', max_age: '' } }, 'a code'],
      ['without state', { with: { state: undefined } }, 'a code, without state'],
      ['a resource', { with: { scope: 'notes:read', resource: 'https://notes.example.com/mcp' } }, 'a code'],
      ['a user who has to be asked', { client: 'asking' }, 'the user is asked'],
      ['nobody is logged in', { agent: 'stranger' }, 'the user is asked'],
      ['prompt=login', { with: { prompt: 'login' } }, 'the user is asked'],
      ['prompt=consent', { with: { prompt: 'consent' } }, 'the user is asked'],
      ['max_age=0', { with: { max_age: '0' } }, 'the user is asked'],
      ['max_age that has not passed', { with: { max_age: '1000' } }, 'a code'],
      ['prompt=none', { with: { prompt: 'none' } }, 'a code'],
      ['prompt=none, nobody', { agent: 'stranger', with: { prompt: 'none' } }, 'login_required'],
      ['prompt=none, max_age=0', { with: { prompt: 'none', max_age: '0' } }, 'login_required'],
      ['prompt=none, has to be asked', { client: 'asking', with: { prompt: 'none' } }, 'consent_required'],
      ['no client', { with: { client_id: undefined } }, 'a page of 400'],
      ['an unknown client', { client: 'nobody' }, 'a page of 400'],
      ['a repeated client', { more: '&client_id=x' }, 'a page of 400'],
      [
        'no redirect URI',
        { with: { redirect_uri: undefined } },
        'a page of 400',
        ['a code', 'OpenID Connect requires it, and nothing is guessed'],
      ],
      ['another redirect URI', { with: { redirect_uri: 'https://evil.example/' } }, 'a page of 400'],
      ['the redirect URI and a slash', { with: { redirect_uri: `${REDIRECT_URI}/` } }, 'a page of 400'],
      ['the redirect URI and a query', { with: { redirect_uri: `${REDIRECT_URI}?a=b` } }, 'a page of 400'],
      ['the redirect URI and a fragment', { with: { redirect_uri: `${REDIRECT_URI}#a` } }, 'a page of 400'],
      [
        'a repeated redirect URI',
        { more: '&redirect_uri=https%3A%2F%2Fevil.example' },
        'a page of 400',
        ['invalid_request', 'nobody knows which of the two is meant'],
      ],
      ['a repeated nonce', { more: '&nonce=a&nonce=b' }, 'invalid_request'],
      ['a repeated state', { more: '&state=b' }, 'invalid_request, without state'],
      ['no response type', { with: { response_type: undefined } }, 'invalid_request'],
      ['an unknown response type', { with: { response_type: 'magic' } }, 'unsupported_response_type'],
      [
        'implicit',
        { with: { response_type: 'id_token', nonce: 'n' } },
        'unsupported_response_type',
        ['a fragment', 'svc has no answer in fragments, for errors neither'],
      ],
      [
        'hybrid',
        { with: { response_type: 'code id_token', nonce: 'n' } },
        'unsupported_response_type',
        ['a fragment', 'svc has no answer in fragments, for errors neither'],
      ],
      ['response_mode=query', { with: { response_mode: 'query' } }, 'a code'],
      [
        'response_mode=fragment',
        { with: { response_mode: 'fragment' } },
        'invalid_request',
        ['a fragment', 'codes go in the query alone'],
      ],
      [
        'response_mode=form_post',
        { with: { response_mode: 'form_post' } },
        'invalid_request',
        ['a form', 'codes go in the query alone'],
      ],
      [
        'an unknown response mode',
        { with: { response_mode: 'pigeon' } },
        'invalid_request',
        ['unsupported_response_mode', 'that name is in no RFC'],
      ],
      ['no PKCE', { with: { code_challenge: undefined, code_challenge_method: undefined } }, 'invalid_request'],
      ['PKCE without a challenge', { with: { code_challenge: undefined } }, 'invalid_request'],
      ['plain PKCE', { with: { code_challenge_method: 'plain' } }, 'invalid_request'],
      ['PKCE of no method', { with: { code_challenge_method: undefined } }, 'invalid_request'],
      ['a short challenge', { with: { code_challenge: 'short' } }, 'invalid_request'],
      ['an unknown prompt', { with: { prompt: 'sing' } }, 'invalid_request'],
      ['prompt=none login', { with: { prompt: 'none login' } }, 'invalid_request'],
      ['a negative max_age', { with: { max_age: '-1' } }, 'invalid_request'],
      ['a max_age of letters', { with: { max_age: 'soon' } }, 'invalid_request'],
      ['an unknown resource', { with: { resource: 'https://evil.example/' } }, 'invalid_target'],
      ['a resource that is no address', { with: { resource: 'notes' } }, 'invalid_target'],
      ['a resource with a fragment', { with: { resource: 'https://files.example.com#a' } }, 'invalid_target'],
      [
        'two resources',
        { more: '&resource=https%3A%2F%2Ffiles.example.com&resource=x' },
        'invalid_request',
        ['invalid_target', 'one token is for one resource'],
      ],
      ['an unknown scope beside a known one', { with: { scope: 'openid nothing' } }, 'a code'],
      [
        'an unknown scope alone',
        { with: { scope: 'nothing' } },
        'invalid_scope',
        ['access_denied', 'RFC 6749 has a name for it'],
      ],
      ['a scope that the client may not have', { with: { scope: 'openid roles' } }, 'a code'],
      ['no scope', { with: { scope: undefined } }, 'a code', ['access_denied', 'a grant without scopes is one']],
      ['a request object', { with: { request: 'e30.e30.' } }, 'request_not_supported'],
      [
        'a request by reference',
        { with: { request_uri: 'https://a.example/' } },
        'request_not_supported',
        ['request_uri_not_supported', 'one name is enough for both'],
      ],
      [
        'a hint at this user',
        { with: async (server) => ({ id_token_hint: await idTokenOf(server, server.web) }) },
        'a code',
      ],
      ['a hint that is none', { with: { id_token_hint: 'x.y.z' } }, 'invalid_request'],
      ['an unknown acr', { with: { acr_values: 'gold' } }, 'a code'],
    ],
    authorize,
  )
})

/** A name of OAuth with the status, or that the answer is good. */
const wordOf = ({ status, headers, body }: ClientAnswer): string => {
  if (status === 200) return body.active === false ? 'inactive' : 'good'
  const challenge = /error="(\w+)"/.exec(headers.get('www-authenticate') ?? '')?.[1]
  return `${status} ${typeof body.error === 'string' ? body.error : (challenge ?? '')}`.trim()
}

const asWeb = (server: Server) => basic(server.web.id, server.web.secret ?? '')
const asOther = (server: Server) => basic(server.asking.id, server.asking.secret ?? '')
const codeOf = (server: Server, scope = 'openid email') => codeFor(server.agent, server.web.id, { scope })

const tradeFor = (server: Server, code: string, changes: Changes = {}, headers = asWeb(server)) =>
  send(
    server,
    'token',
    { grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: REDIRECT_URI, ...changes },
    headers,
  )

const tokensOf = async (server: Server, scope?: string) => tokensIn(await tradeFor(server, await codeOf(server, scope)))

const refreshFor = (server: Server, token: string, changes: Changes = {}, headers = asWeb(server)) =>
  send(server, 'token', { grant_type: 'refresh_token', refresh_token: token, ...changes }, headers)

type Doing = (server: Server) => Promise<ClientAnswer>
const word = async (server: Server, doing: Doing): Promise<string> => wordOf(await doing(server))

describe('token', () => {
  compare<Doing>(
    [
      ['a good code', async (server) => tradeFor(server, await codeOf(server)), 'good'],
      [
        'a code twice',
        async (server) => {
          const code = await codeOf(server)
          await tradeFor(server, code)
          return tradeFor(server, code)
        },
        '400 invalid_grant',
      ],
      [
        'the grant of a code that came twice',
        async (server) => {
          const code = await codeOf(server)
          const { refresh } = tokensIn(await tradeFor(server, code))
          await tradeFor(server, code)
          return refreshFor(server, refresh)
        },
        '400 invalid_grant',
      ],
      ['an unknown code', (server) => tradeFor(server, 'unknown'), '400 invalid_grant'],
      [
        'another verifier',
        async (server) => tradeFor(server, await codeOf(server), { code_verifier: 'w'.repeat(43) }),
        '400 invalid_grant',
      ],
      [
        'no verifier',
        async (server) => tradeFor(server, await codeOf(server), { code_verifier: undefined }),
        '400 invalid_request',
        ['400 invalid_grant', 'RFC 6749 names a missing parameter so'],
      ],
      [
        'another redirect URI',
        async (server) => tradeFor(server, await codeOf(server), { redirect_uri: `${REDIRECT_URI}/x` }),
        '400 invalid_grant',
      ],
      [
        'another client',
        async (server) => tradeFor(server, await codeOf(server), {}, asOther(server)),
        '400 invalid_grant',
      ],
      [
        'a wrong secret',
        async (server) => tradeFor(server, await codeOf(server), {}, basic(server.web.id, 'wrong')),
        '401 invalid_client',
      ],
      ['no code', (server) => tradeFor(server, '', { code: undefined }), '400 invalid_request'],
      ['no grant type', (server) => tradeFor(server, 'x', { grant_type: undefined }), '400 invalid_request'],
      ['passwords', (server) => tradeFor(server, 'x', { grant_type: 'password' }), '400 unsupported_grant_type'],
      [
        'a repeated parameter',
        (server) => send(server, 'token', 'grant_type=refresh_token&refresh_token=a&refresh_token=b', asWeb(server)),
        '400 invalid_request',
      ],
      ['a refresh', async (server) => refreshFor(server, (await tokensOf(server)).refresh), 'good'],
      ['an unknown refresh token', (server) => refreshFor(server, 'unknown'), '400 invalid_grant'],
      [
        'the refresh token of another client',
        async (server) => refreshFor(server, (await tokensOf(server)).refresh, {}, asOther(server)),
        '400 invalid_grant',
      ],
      [
        'fewer scopes',
        async (server) => refreshFor(server, (await tokensOf(server)).refresh, { scope: 'openid' }),
        'good',
      ],
      [
        'more scopes',
        async (server) => refreshFor(server, (await tokensOf(server)).refresh, { scope: 'openid profile' }),
        '400 invalid_scope',
      ],
      [
        'an access token as a refresh token',
        async (server) => refreshFor(server, (await tokensOf(server)).access),
        '400 invalid_grant',
      ],
    ],
    word,
  )
})

describe('userinfo', () => {
  compare<Doing>(
    [
      ['an access token', async (server) => userInfo(server, (await tokensOf(server)).access), 'good'],
      ['no token', (server) => get(server, '/auth/oauth2/userinfo'), '401 invalid_token'],
      ['an unknown token', (server) => userInfo(server, 'unknown'), '401 invalid_token'],
      ['a refresh token', async (server) => userInfo(server, (await tokensOf(server)).refresh), '401 invalid_token'],
      ['an ID token', async (server) => userInfo(server, (await tokensOf(server)).id ?? ''), '401 invalid_token'],
      [
        'a token without openid',
        async (server) => userInfo(server, (await tokensOf(server, 'email')).access),
        '403 insufficient_scope',
      ],
    ],
    word,
  )
})

const introspectFor = (server: Server, token: string | undefined, headers: Record<string, string> = asWeb(server)) =>
  send(server, 'introspect', { token }, headers)

describe('introspection', () => {
  compare<Doing>(
    [
      ['an access token', async (server) => introspectFor(server, (await tokensOf(server)).access), 'good'],
      ['a refresh token', async (server) => introspectFor(server, (await tokensOf(server)).refresh), 'good'],
      ['an unknown token', (server) => introspectFor(server, 'unknown'), 'inactive'],
      [
        'an ID token',
        async (server) => introspectFor(server, (await tokensOf(server)).id),
        'inactive',
        ['400 unsupported_token_type', 'RFC 7662 has no such error'],
      ],
      [
        'the token of another client',
        async (server) => introspectFor(server, (await tokensOf(server)).access, asOther(server)),
        'inactive',
      ],
      ['no token', (server) => introspectFor(server, undefined), '400 invalid_request'],
      ['a wrong secret', (server) => introspectFor(server, 'x', basic(server.web.id, 'wrong')), '401 invalid_client'],
    ],
    word,
  )
})

const revokeFor = (server: Server, token: string | undefined, headers: Record<string, string> = asWeb(server)) =>
  send(server, 'revoke', { token }, headers)

describe('revocation', () => {
  compare<Doing>(
    [
      ['a refresh token', async (server) => revokeFor(server, (await tokensOf(server)).refresh), 'good'],
      ['an unknown token', (server) => revokeFor(server, 'unknown'), 'good'],
      ['no token', (server) => revokeFor(server, undefined), '400 invalid_request'],
      ['a wrong secret', (server) => revokeFor(server, 'x', basic(server.web.id, 'wrong')), '401 invalid_client'],
      [
        'the token of another client',
        async (server) => revokeFor(server, (await tokensOf(server)).refresh, asOther(server)),
        '400 invalid_request',
        ['good', 'RFC 7009 section 2.1 wants the refusal told'],
      ],
      [
        'a refresh after it',
        async (server) => {
          const { refresh } = await tokensOf(server)
          await revokeFor(server, refresh)
          return refreshFor(server, refresh)
        },
        '400 invalid_grant',
      ],
      [
        'the access token after the refresh token',
        async (server) => {
          const { access, refresh } = await tokensOf(server)
          await revokeFor(server, refresh)
          return introspectFor(server, access)
        },
        'inactive',
      ],
      [
        'a refresh after the access token',
        async (server) => {
          const { access, refresh } = await tokensOf(server)
          await revokeFor(server, access)
          return refreshFor(server, refresh)
        },
        '400 invalid_grant',
      ],
    ],
    word,
  )
})

type Logout = { more: Changes | ((server: Server) => Promise<Changes>) }

describe('logout', () => {
  compare<Logout>(
    [
      ['of nobody known', { more: {} }, 'the user is asked'],
      [
        'an unknown address to go on to',
        { more: { post_logout_redirect_uri: 'https://evil.example/' } },
        'the user is asked',
      ],
      [
        'a hint that is none',
        { more: { id_token_hint: 'x.y.z' } },
        'the user is asked',
        ['a page of 400', 'a user can always log out'],
      ],
      [
        'a hint, and an address that the client has not registered',
        {
          more: async (server) => ({
            id_token_hint: await idTokenOf(server, server.web),
            post_logout_redirect_uri: 'https://evil.example/',
          }),
        },
        'the user is asked',
        ['a page of 400', 'the logout goes on, and leads nowhere'],
      ],
    ],
    async (server, { more }) => {
      const fields = typeof more === 'function' ? await more(server) : more
      const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined)
      const agentOf = server.agent.copy()
      return placeOf(server, await agentOf.get(`/auth/oauth2/logout?${new URLSearchParams(given).toString()}`))
    },
  )
})

describe('discovery', () => {
  compare<string>(
    [
      [
        'response_types_supported',
        'response_types_supported',
        '["code"]',
        ['["code id_token","code","id_token","none"]', 'svc has the code flow alone'],
      ],
      [
        'response_modes_supported',
        'response_modes_supported',
        '["query"]',
        ['["form_post","fragment","query"]', 'codes go in the query alone'],
      ],
      [
        'grant_types_supported',
        'grant_types_supported',
        '["authorization_code","refresh_token"]',
        ['["implicit","authorization_code","refresh_token"]', 'svc has no implicit flow'],
      ],
      ['subject_types_supported', 'subject_types_supported', '["public"]'],
      ['id_token_signing_alg_values_supported', 'id_token_signing_alg_values_supported', '["ES256"]'],
      ['code_challenge_methods_supported', 'code_challenge_methods_supported', '["S256"]'],
      ['authorization_response_iss_parameter_supported', 'authorization_response_iss_parameter_supported', 'true'],
      ['claims_parameter_supported', 'claims_parameter_supported', 'false'],
      [
        'request_parameter_supported',
        'request_parameter_supported',
        'false',
        ['nothing', 'svc says what is the default too'],
      ],
      ['request_uri_parameter_supported', 'request_uri_parameter_supported', 'false'],
      ...['authorization', 'token', 'userinfo', 'introspection', 'revocation', 'end_session'].map(
        (name): Row<string> => [`${name}_endpoint`, `${name}_endpoint`, 'an address'],
      ),
    ],
    async (server, member) => {
      const path = `${new URL(server.issuer).pathname.replace(/\/$/, '')}/.well-known/openid-configuration`
      const { body } = await get(server, path)
      assert.equal(body.issuer, server.issuer)
      const value = body[member]
      const isAddress = typeof value === 'string' && value.startsWith(`${server.url}/auth/oauth2/`)
      return isAddress ? 'an address' : (JSON.stringify(value) ?? 'nothing')
    },
  )
})
