import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newcomer } from '../support/people.ts'
import { providerSettings } from '../support/provider-service.ts'
import { routeTable } from '../support/route-table.ts'
import { startService } from '../support/service.ts'
import { createUserAgent } from '../support/user-agent.ts'
import type { Answer } from '../support/user-agent.ts'

const provider = { issuer: 'https://login.example.com', clientId: 'client', clientSecret: 'secret' }
// Assets have the name of the service in them, so that both must have the same.
const service = await startService({ env: { ...providerSettings({ company: provider }), SVC_APP_NAME: 'Any' } })
const routes = routeTable('company')

const NAMES = ['svc_access', 'svc_refresh', 'svc_csrf', 'svc_oauth']
/** Each of our cookies, twice: the answer would end them all. */
const repeated = NAMES.flatMap((name) => [`${name}=one`, `${name}=two`]).join('; ')

const mayBeStored = ({ headers }: Answer): boolean => !/\bno-store\b/.test(headers['cache-control'] ?? '')

describe('an answer that may be stored', () => {
  for (const { path } of routes.filter(({ method }) => method === 'GET')) {
    test(`carries no cookie: ${path}`, async () => {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
        const answer = await createUserAgent(service).send({ method, path, headers: { cookie: repeated } })
        assert.ok(answer.headers['cache-control'], 'every answer says whether it may be stored')
        if (mayBeStored(answer)) assert.deepEqual(answer.setCookies, [], method)
      }
    })
  }

  test('is an asset or the JWK Set, and nothing else', async () => {
    const stored: string[] = []
    for (const { path, method } of routes) {
      const answer = await newcomer(service).send({ method, path })
      if (mayBeStored(answer)) stored.push(path)
    }
    const expected = routes.filter(({ path }) => /^\/auth\/(?:assets\/|\.well-known\/jwks\.json$)/.test(path))
    assert.deepEqual(
      stored,
      expected.map(({ path }) => path),
    )
    assert.ok(stored.length > 5)
  })

  test('others still end cookies that came twice', async () => {
    const answer = await createUserAgent(service).get('/auth/login', { cookie: repeated })
    assert.deepEqual([...new Set(answer.cleared)].toSorted(), NAMES.toSorted())
  })
})
