import { createPrivateKey, sign } from 'node:crypto'
import type { Clock } from '../../lib/time.ts'

interface AppleSecretDeps {
  teamId: string
  keyId: string
  clientId: string
  /** PEM (PKCS #8) of a P-256 key: the file that Apple issues. */
  privateKey: string
  clock: Clock
}

/** Apple accepts up to six months; these secrets are used at once. */
const LIFETIME_SECONDS = 300
const AUDIENCE = 'https://appleid.apple.com'

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * Makes the client secrets that Apple requires: JWTs signed with the developer's key (ES256).
 * https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
 */
export const createAppleSecret = ({ teamId, keyId, clientId, privateKey, clock }: AppleSecretDeps): (() => string) => {
  const key = createPrivateKey(privateKey)
  return () => {
    const iat = Math.floor(clock.now() / 1000)
    const claims = { iss: teamId, iat, exp: iat + LIFETIME_SECONDS, aud: AUDIENCE, sub: clientId }
    const message = `${encode({ alg: 'ES256', kid: keyId, typ: 'JWT' })}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(message), { key, dsaEncoding: 'ieee-p1363' })
    return `${message}.${signature.toString('base64url')}`
  }
}
