import { createPublicKey } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { jwtVerify } from 'jose'

/** A team whose key signs the client secrets that a provider like Apple accepts; the public key in PEM. */
export type AppleTeam = { teamId: string; keyId: string; publicKey: string }

/** Whether a request to the token endpoint comes from the client. */
export type ClientCheck = (form: URLSearchParams, headers: IncomingHttpHeaders) => Promise<boolean>

type Credentials = { id: string; secret: string }

const decoded = (part = ''): string => decodeURIComponent(part.replaceAll('+', ' '))

/** The id and secret of a client, in the header (RFC 6749, section 2.3.1) or the form. */
const credentialsIn = (form: URLSearchParams, { authorization = '' }: IncomingHttpHeaders): Credentials => {
  const basic = /^basic (.+)$/i.exec(authorization)?.[1]
  if (basic === undefined) return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' }
  const [id, secret] = Buffer.from(basic, 'base64').toString('utf8').split(':')
  return { id: decoded(id), secret: decoded(secret) }
}

/** A client that has a secret. */
export const checkSecret =
  ({ clientId, clientSecret }: { clientId: string; clientSecret: string }): ClientCheck =>
  async (form, headers) => {
    const { id, secret } = credentialsIn(form, headers)
    return id === clientId && secret === clientSecret
  }

const SIX_MONTHS_SECONDS = 15_777_000

/** Any address. */
const APPLE = 'https://appleid.apple.com'

/** A client whose secret is a JWT that its team has signed for Apple, valid for six months at most. */
export const checkSignedSecret =
  ({ clientId, team }: { clientId: string; team: AppleTeam }): ClientCheck =>
  async (form) => {
    const options = {
      algorithms: ['ES256'],
      issuer: team.teamId,
      audience: APPLE,
      subject: clientId,
      requiredClaims: ['iat', 'exp'],
    }
    const secret = form.get('client_secret') ?? ''
    const verified = await jwtVerify(secret, createPublicKey(team.publicKey), options).catch(() => undefined)
    if (!verified || form.get('client_id') !== clientId) return false
    const { iat = 0, exp = Number.POSITIVE_INFINITY } = verified.payload
    return verified.protectedHeader.kid === team.keyId && exp - iat <= SIX_MONTHS_SECONDS
  }
