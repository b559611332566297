import { unreadableResponse } from './problems.ts'

/*
 * Browsers send this of an authenticator (WebAuthn section 5.1, `toJSON`), as far as svc looks at it. Each value is
 * checked here and copied: other members, of which later browsers send more, never reach the library.
 */

/** This is `AuthenticationResponseJSON`. */
export interface Assertion {
  id: string
  clientDataJSON: string
  authenticatorData: string
  signature: string
  /** It is undefined if the authenticator does not say whose passkey it is. */
  userHandle: string | undefined
}

/** This is `RegistrationResponseJSON`. */
export interface Registration {
  id: string
  clientDataJSON: string
  attestationObject: string
  transports: string[]
}

const MAX_CREDENTIAL_ID_BYTES = 1023

/** WebAuthn section 5.8.4 names these; a browser may know others, which would be sent back to it in vain. */
const TRANSPORTS: readonly string[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const requireObject = (value: unknown, name: string): Members => {
  if (isObject(value)) return value
  throw unreadableResponse(`${name} must be an object.`)
}

/** Accepts no padding and no bits beyond the last byte, so that there is one text for each value. */
const isBase64Url = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w-]+$/.test(value) && Buffer.from(value, 'base64url').toString('base64url') === value

const requireBase64Url = (members: Members, name: string, path = `response.${name}`): string => {
  const value = members[name]
  if (isBase64Url(value)) return value
  throw unreadableResponse(`${path} must be text in base64url.`)
}

/** A form has the JSON as the text of a field. */
const parse = (response: unknown): unknown => {
  if (typeof response !== 'string') return response
  try {
    return JSON.parse(response)
  } catch {
    throw unreadableResponse('passkey_response must be JSON.')
  }
}

/** Reads the id, and the part that the authenticator has made. */
const readCredential = (given: unknown): { id: string; response: Members } => {
  const credential = requireObject(parse(given), 'The body')
  const id = requireBase64Url(credential, 'id', 'id')
  if (Buffer.from(id, 'base64url').length > MAX_CREDENTIAL_ID_BYTES) {
    throw unreadableResponse(`id must be ${MAX_CREDENTIAL_ID_BYTES} bytes at most.`)
  }
  if (credential.rawId !== id) throw unreadableResponse('rawId must be the same as id.')
  if (credential.type !== 'public-key') throw unreadableResponse('type must be "public-key".')
  return { id, response: requireObject(credential.response, 'response') }
}

/** Throws `invalid_request` for a value that no browser sends. */
export const readAssertion = (given: unknown): Assertion => {
  const { id, response } = readCredential(given)
  const { userHandle } = response
  return {
    id,
    clientDataJSON: requireBase64Url(response, 'clientDataJSON'),
    authenticatorData: requireBase64Url(response, 'authenticatorData'),
    signature: requireBase64Url(response, 'signature'),
    userHandle: userHandle === undefined || userHandle === null ? undefined : requireBase64Url(response, 'userHandle'),
  }
}

/** Throws `invalid_request` for a value that no browser sends. */
export const readRegistration = (given: unknown): Registration => {
  const { id, response } = readCredential(given)
  return {
    id,
    clientDataJSON: requireBase64Url(response, 'clientDataJSON'),
    attestationObject: requireBase64Url(response, 'attestationObject'),
    transports: readTransports(response.transports),
  }
}

const readTransports = (value: unknown): string[] => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw unreadableResponse('response.transports must be a list.')
  return TRANSPORTS.filter((transport) => value.includes(transport))
}

/** The browser says this about the ceremony (section 5.8.1). */
export interface ClientData {
  challenge: string
  /** It tells whether the page was inside a page of another site. */
  isFramed: boolean
}

/** The library checks the other members. */
export const readClientData = (clientDataJSON: string): ClientData => {
  const { challenge, crossOrigin, topOrigin } = requireObject(
    parseClientData(Buffer.from(clientDataJSON, 'base64url').toString()),
    'clientDataJSON',
  )
  if (typeof challenge !== 'string') throw unreadableResponse('clientDataJSON must have a challenge.')
  return { challenge, isFramed: (crossOrigin !== undefined && crossOrigin !== false) || topOrigin !== undefined }
}

const parseClientData = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw unreadableResponse('clientDataJSON must be JSON.')
  }
}
