// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { assertJsonError, assertRedirect, assertSignedIn, assertSignedOut } from '../../support/client/assertions.ts'
import type { UserAgent } from '../../support/client/user-agent.ts'
import { startService } from '../../support/service/service.ts'

const service = await startService()

const logOutByScript = (agent: UserAgent, headers: Record<string, string> = {}) =>
  agent.send({
    method: 'POST',
    path: '/auth/logout',
    headers: { accept: 'application/json', 'x-csrf-token': agent.cookies.get('svc_csrf') ?? '', ...headers },
  })

describe('§4.2 POST /auth/logout with Accept: application/json', () => {
  test('is 204, ends the session and clears its cookies', async () => {
    const { agent } = await signedUp(service)
    const before = agent.copy()
    const answer = await logOutByScript(agent)
    assert.deepEqual([answer.status, answer.text, answer.headers['content-length']], [204, '', undefined])
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.deepEqual(answer.cleared.sort(), ['svc_access', 'svc_fresh', 'svc_refresh', 'svc_session'])
    await assertSignedOut(before)
    assert.equal((await logOutByScript(agent)).status, 204, 'sent twice')
  })

  test('takes the token as a form field, too', async () => {
    const { agent } = await signedUp(service)
    assert.equal((await agent.post('/auth/logout', {}, { accept: 'application/json' })).status, 204)
    await assertSignedOut(agent)
  })

  test('without the CSRF token, or from another site, it is 403 in JSON, and the user stays signed in', async () => {
    const { agent } = await signedUp(service)
    const headers: Record<string, string>[] = [
      { 'x-csrf-token': '' },
      { 'x-csrf-token': 'x'.repeat(43) },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ]
    for (const wrong of headers) assertJsonError(await logOutByScript(agent, wrong), 403, 'forbidden')
    await assertSignedIn(agent)
  })

  test('a bad return_to is 400 in JSON, before anything changes', async () => {
    const { agent } = await signedUp(service)
    const answer = await agent.post('/auth/logout', { return_to: '//evil.example' }, { accept: 'application/json' })
    assertJsonError(answer, 400, 'invalid_request')
    await assertSignedIn(agent)
  })

  test('a browser that shows a page is redirected, whatever else it accepts', async () => {
    for (const accept of ['text/html', 'text/html, application/json', '*/*', 'application/json;q=0.5, text/html']) {
      const { agent } = await signedUp(service)
      assertRedirect(await agent.post('/auth/logout', {}, { accept }), '/')
    }
  })

  test('a refused form is still a page for a browser', async () => {
    const { agent } = await signedUp(service)
    const answer = await logOutByScript(agent, { accept: 'text/html', 'x-csrf-token': '' })
    assert.equal(answer.status, 403)
    assert.match(String(answer.headers['content-type']), /^text\/html/)
  })
})
