import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { startServer } from '../network/http-server.ts'

/** The public origin, as tokens name it. */
export const ORIGIN = 'https://example.com'

/** The claims of an access token of a cookie. */
export const claimsOfCookie = () => ({
  iss: ORIGIN,
  sub: 'user',
  aud: 'app',
  sid: 'session',
  roles: [],
  email_verified: true,
  iat: Math.floor(Date.now() / 1000),
  exp: Math.floor(Date.now() / 1000) + 600,
  jti: 'token',
})

export const newKey = async (kid: string) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } }
}

export type Key = Awaited<ReturnType<typeof newKey>>

/** Signs the claims of a cookie's token with some changes. */
export const sign = (
  { privateKey, kid }: Key,
  changes: Record<string, unknown> = {},
  header: Record<string, string> = {},
): Promise<string> =>
  new SignJWT({ ...claimsOfCookie(), ...changes })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
    .sign(privateKey)

/** Keys as svc publishes them; the list may change. */
export const publishKeys = async (t: TestContext, keys: Key[]) => {
  let asked = 0
  let isAway = false
  const url = await startServer(t, (_, response) => {
    asked++
    if (isAway) return response.writeHead(503).end()
    return response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }))
  })
  return {
    url,
    asked: () => asked,
    goAway: () => {
      isAway = true
    },
  }
}
