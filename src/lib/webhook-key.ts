const PREFIX = 'whsec_'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

/** Tells whether a secret looks like one of Standard Webhooks, and is none: a library would refuse it. */
export const isMisspelt = (secret: string): boolean => secret.startsWith(PREFIX) && !isEncoded(secret)

const isEncoded = (secret: string): boolean =>
  secret.startsWith(PREFIX) && secret.length > PREFIX.length && BASE64.test(secret.slice(PREFIX.length))

/** Finds the key of Standard Webhooks: the bytes that are encoded in `whsec_…`. Any other text counts as raw bytes. */
export const webhookKey = (secret: string): Buffer =>
  isEncoded(secret) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret)
