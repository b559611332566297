// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { AccessTokenError, createAuth, SvcUnavailableError } from '../../sdk/src/server.ts'
import { currentUser, signedUp } from '../support/client/accounts.ts'
import { startServer } from '../support/network/http-server.ts'
import { startService } from '../support/service/service.ts'

const ISSUER = 'https://example.com'
const KEPT_MS = 60_000

const claims = (): JWTPayload => ({
  iss: ISSUER,
  sub: 'user',
  aud: 'app',
  sid: 'session',
  roles: [],
  email_verified: true,
  iat: Math.floor(Date.now() / 1000),
  exp: Math.floor(Date.now() / 1000) + 600,
  jti: 'token',
})

const newKey = async (kid: string) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } }
}

type Key = Awaited<ReturnType<typeof newKey>>

const sign = (
  { privateKey, kid }: Key,
  changes: Record<string, unknown> = {},
  header: Record<string, string> = {},
): Promise<string> =>
  new SignJWT({ ...claims(), ...changes })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
    .sign(privateKey)

/** Keys as svc publishes them; the list may change. */
const publish = async (t: TestContext, keys: Key[]) => {
  let asked = 0
  let isAway = false
  const url = await startServer(t, (_, response) => {
    asked++
    if (isAway) return response.writeHead(503).end()
    return response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }))
  })
  return {
    auth: createAuth({ url, issuer: ISSUER }),
    asked: () => asked,
    goAway: () => {
      isAway = true
    },
  }
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
      expired: await sign(known, { exp: claims().iat }),
      'without an end': await sign(known, { exp: undefined }),
      'without a session': await sign(known, { sid: undefined }),
      'another type': await sign(known, {}, { typ: 'JWT' }),
      'an unknown key': await sign(unknown),
      'a key under the name of another': await sign({ ...unknown, kid: 'known' }),
      'no token': 'svc',
      empty: '',
      unsigned: `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims())).toString('base64url')}.`,
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
