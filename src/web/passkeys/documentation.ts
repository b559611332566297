import { failure, refTo, UNAVAILABLE } from '../../api/schemas.ts'
import { CSRF_FIELD } from '../../http/csrf.ts'
import type { Documentation, Schema } from '../../http/route.ts'

/** WebAuthn Level 3 section 5.1.8 describes the members; others are ignored. */
const object = (description: string, ...required: string[]): Schema => ({ type: 'object', description, required })

const csrfHeader: NonNullable<Documentation['parameters']>[number] = {
  name: CSRF_FIELD,
  in: 'header',
  required: true,
  description: 'The value of the CSRF cookie',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
}

const FAILURES: Documentation['responses'] = {
  400: failure('`invalid_request`: the body cannot be read, or its challenge is too old, used, or of another browser'),
  403: failure('`forbidden`: the CSRF token or the origin is wrong, or the user may not do this now'),
  413: failure('`payload_too_large`'),
  415: failure('`unsupported_media_type`'),
  503: UNAVAILABLE,
}

const limited = failure('`rate_limited`', 'Retry-After')
const deadLink = failure('`gone`: the link was used, has ended, or has expired')
const loggedOut = failure('`unauthorized`: the user is not signed in', 'WWW-Authenticate')

export const LOGIN_OPTIONS: Documentation = {
  operationId: 'getPasskeyRequestOptions',
  summary: 'Begins a sign-in with a passkey',
  tag: 'Passkeys',
  parameters: [csrfHeader],
  responses: {
    200: {
      description: 'For `navigator.credentials.get`',
      schema: refTo('PasskeyRequestOptions'),
      headers: ['Set-Cookie'],
    },
    ...FAILURES,
  },
}

export const LOGIN: Documentation = {
  operationId: 'logInWithPasskey',
  summary: 'Signs in with a passkey',
  tag: 'Passkeys',
  parameters: [
    csrfHeader,
    {
      name: 'return_to',
      in: 'query',
      required: false,
      description: 'The path to go to',
      schema: { type: 'string', maxLength: 2048 },
    },
    {
      name: 'confirm',
      in: 'query',
      required: false,
      description: '`1`: the signed-in user confirms who they are',
      schema: { type: 'string' },
    },
  ],
  body: { schema: object('AuthenticationResponseJSON', 'id', 'rawId', 'type', 'response') },
  responses: {
    200: {
      description: 'Signed in',
      schema: refTo('SignedIn'),
      headers: ['Set-Cookie'],
    },
    ...FAILURES,
    401: failure('`unauthorized`: the passkey is unknown, or proves nothing', 'WWW-Authenticate'),
    429: limited,
  },
}

export const REGISTER_OPTIONS: Documentation = {
  operationId: 'getPasskeyCreationOptions',
  summary: 'Begins to add a passkey',
  tag: 'Passkeys',
  parameters: [csrfHeader],
  responses: {
    200: {
      description: 'For `navigator.credentials.create`',
      schema: refTo('PasskeyCreationOptions'),
      headers: ['Set-Cookie'],
    },
    ...FAILURES,
    401: loggedOut,
    409: failure('`conflict`: the user has as many passkeys as an account can have'),
    410: deadLink,
  },
}

export const REGISTER: Documentation = {
  operationId: 'addPasskey',
  summary: 'Adds a passkey',
  tag: 'Passkeys',
  parameters: [csrfHeader],
  body: { schema: object('RegistrationResponseJSON, and `name`', 'id', 'rawId', 'type', 'response') },
  responses: {
    201: {
      description: 'Added',
      schema: refTo('AddedPasskey'),
    },
    ...FAILURES,
    401: loggedOut,
    409: failure('`conflict`: an account has this passkey, or the user has as many as an account can have'),
    410: deadLink,
    422: failure('`unprocessable`: the name is not accepted'),
    429: limited,
  },
}
