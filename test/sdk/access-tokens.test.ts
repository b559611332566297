// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { AccessTokenError, createAuth, SvcUnavailableError } from '../../sdk/src/server.ts'
import { currentUser, signedUp } from '../support/client/accounts.ts'
import { claimsOfCookie, type Key, newKey, ORIGIN, publishKeys, sign } from '../support/sdk/published-keys.ts'
import { startService } from '../support/service/service.ts'

const KEPT_MS = 60_000

/** An application of keys as svc publishes them. */
const publish = async (t: TestContext, keys: Key[]) => {
  const published = await publishKeys(t, keys)
  return { ...published, auth: createAuth({ url: published.url, issuer: ORIGIN }) }
}

describe('verifyAccessToken', () => {
  test('gives the claims of a token of svc', async () => {
    const service = await startService()
    const beforeS = Math.floor(Date.now() / 1000)
    const { agent } = await signedUp(service)
    const { id } = await currentUser(agent)
    const token = agent.cookies.get('svc_access') ?? ''
    const { verifyAccessToken } = createAuth({ url: service.url, issuer: service.url })
    const { sub, aud, roles, sid, amr, auth_time } = await verifyAccessToken(token)
    assert.deepEqual({ sub, aud, roles, amr }, { sub: id, aud: 'app', roles: [], amr: ['pwd'] })
    assert.ok(auth_time && auth_time >= beforeS && auth_time <= Date.now() / 1000)
    assert.match(sid, /^[\da-f-]{36}$/)
    const other = createAuth({ url: service.url, issuer: service.url, audience: 'reports' })
    await assert.rejects(other.verifyAccessToken(token), AccessTokenError)
  })

  test('refuses what is wrong in one respect', async (t) => {
    const [known, unknown] = [await newKey('known'), await newKey('unknown')]
    const { auth } = await publish(t, [known])
    assert.equal((await auth.verifyAccessToken(await sign(known))).sub, 'user')
    const wrong: Record<string, string> = {
      'another issuer': await sign(known, { iss: 'https://evil.example' }),
      'another audience': await sign(known, { aud: 'other' }),
      expired: await sign(known, { exp: claimsOfCookie().iat }),
      'without an end': await sign(known, { exp: undefined }),
      'without a session': await sign(known, { sid: undefined }),
      'another type': await sign(known, {}, { typ: 'JWT' }),
      'an unknown key': await sign(unknown),
      'a key under the name of another': await sign({ ...unknown, kid: 'known' }),
      'of a client': await sign(known, { iss: `${ORIGIN}/auth`, client_id: 'client', scope: 'openid' }),
      'no token': 'svc',
      empty: '',
      unsigned: `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${Buffer.from(JSON.stringify(claimsOfCookie())).toString('base64url')}.`,
    }
    for (const [title, token] of Object.entries(wrong)) {
      await assert.rejects(auth.verifyAccessToken(token), AccessTokenError, title)
    }
  })

  test('asks for the keys once, again for a new key, and again when they are a minute old', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const keys = [await newKey('first')]
    const published = await publish(t, keys)
    const verify = async (key: Key) => published.auth.verifyAccessToken(await sign(key))
    const [first] = keys
    assert.ok(first)
    await Promise.all([verify(first), verify(first), verify(first)])
    assert.equal(published.asked(), 1)
    const second = await newKey('second')
    keys.push(second)
    t.mock.timers.tick(KEPT_MS / 2)
    await verify(second)
    assert.equal(published.asked(), 2)
    const forged = await newKey('forged')
    for (let i = 0; i < 3; i++) await assert.rejects(verify(forged), AccessTokenError)
    assert.equal(published.asked(), 2, 'made-up keys do not lead to a request each')
    t.mock.timers.tick(KEPT_MS + 1)
    await verify(first)
    assert.equal(published.asked(), 3)
  })

  test('says in an outage that svc is unavailable, and not that the token is wrong', async (t) => {
    const key = await newKey('key')
    const published = await publish(t, [key])
    published.goAway()
    await assert.rejects(published.auth.verifyAccessToken(await sign(key)), SvcUnavailableError)
  })
})
