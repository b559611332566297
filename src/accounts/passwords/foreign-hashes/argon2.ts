import { verify } from '@node-rs/argon2'
import { fromBase64 } from './base64.ts'
import { asKey, type ReadForm, WORK_A_SECOND } from './password-hash.ts'

const ARGON2 =
  /^\$argon2(?<variant>id|i|d)(?:\$v=(?<version>16|19))?\$(?<parameters>m=(?<memory>\d{1,10}),t=(?<passes>\d{1,10}),p=(?<lanes>\d{1,3})(?:,data=(?<data>[\w+/]+))?)\$(?<salt>[\w+/]+)\$(?<key>[\w+/]+)$/

/** What the library can check; so does the Argon2 format's own specification, but for the shortest keys. */
const MIN_SALT_BYTES = 8
const MAX_SALT_BYTES = 48
const MAX_DATA_BYTES = 32
const MAX_ARGON2_KEY_BYTES = 64

/**
 * A PHC string of Argon2 (RFC 9106), with its own parameters and associated data. A `keyid` names a secret that stayed
 * with the other system, so such a hash is not read.
 */
export const readArgon2: ReadForm = (text) => {
  const {
    variant,
    version = '16',
    parameters,
    memory,
    passes,
    lanes,
    data,
    salt,
    key,
  } = ARGON2.exec(text)?.groups ?? {}
  const saltBytes = fromBase64(salt ?? '')?.length ?? 0
  if (saltBytes < MIN_SALT_BYTES || saltBytes > MAX_SALT_BYTES) return undefined
  const keyBytes = asKey(fromBase64(key ?? ''))?.length ?? Number.POSITIVE_INFINITY
  const dataBytes = fromBase64(data ?? '')?.length ?? Number.POSITIVE_INFINITY
  if (keyBytes > MAX_ARGON2_KEY_BYTES || dataBytes > MAX_DATA_BYTES) return undefined
  if (Number(passes) < 1 || Number(lanes) < 1 || Number(memory) < 8 * Number(lanes)) return undefined
  // Without a version it is 16: the format is older than its version 19.
  const withVersion = `$argon2${variant}$v=${version}$${parameters}$${salt}$${key}`
  return {
    memoryBytes: Number(memory) * 1024,
    seconds: (Number(memory) * Number(passes)) / WORK_A_SECOND.argon2,
    normalForm: 'NFC',
    matches: (password) => verify(withVersion, password),
  }
}
