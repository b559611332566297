import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createDurably, makeDataFolder, replaceDurably } from '../lib/durable-file.ts'
import { createRootSecret, type RootSecret, type SecretPair } from '../lib/derived-keys.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import { requireUnguessable } from '../lib/weak-secret.ts'
import type { ReadSettings } from './settings.ts'

const FILE_NAME = 'svc.secret'
const SECRET_BYTES = 32

const rootSecretFile = (databaseFile: string): string => join(dirname(databaseFile), FILE_NAME)

/** The previous root secret is accepted as long as the file exists. */
const previousSecretFile = (databaseFile: string): string => `${rootSecretFile(databaseFile)}.previous`

/** The files of the root secret beside a SQLite database; undefined where `SVC_SECRET` holds it. */
export const secretFilesOf = ({
  database,
  secret,
}: Pick<ReadSettings, 'database'> & { secret?: ReadSettings['secret'] }) => {
  if (secret !== undefined || database.kind !== 'sqlite') return undefined
  const file = resolve(database.file)
  return { database: file, current: rootSecretFile(file), previous: previousSecretFile(file) }
}

/**
 * Opens the root secret beside a database file, with the previous one; the first start creates it. `refresh` of the
 * result reads the files again if they have changed, so that a rotation by another process takes effect without a
 * restart.
 */
export const openSecretFile = (databaseFile: string, { onChange, onProblem }: Listeners = {}): RootSecret => {
  let known = readSecretPair(databaseFile)
  return createRootSecret(known, () => {
    if (fileVersionOf(databaseFile) === known.version) return undefined
    try {
      const next = readSecretPair(databaseFile)
      requireContinuity(known, next, rootSecretFile(databaseFile))
      const isRotated = Buffer.compare(next.current, known.current) !== 0
      known = next
      if (isRotated) onChange?.()
      return next
    } catch (error) {
      // Keeps the secret in use. The new version is remembered, so that one problem is reported once.
      known = { ...known, version: fileVersionOf(databaseFile) }
      onProblem?.(error as Error)
      return undefined
    }
  })
}

interface Listeners {
  /** Called when another process has rotated the secret. */
  onChange?: () => void
  /** Called when changed files are refused; the secret in use stays. */
  onProblem?: (error: Error) => void
}

const readSecretPair = (databaseFile: string): SecretPair & { version: string } => {
  // The version first, so that a change during the reads is noticed later. Then the current secret before the previous
  // one, because a rotation writes them the other way round.
  const version = fileVersionOf(databaseFile)
  const current = readOrCreateSecret(databaseFile)
  const file = previousSecretFile(databaseFile)
  const previous = existsSync(file) ? readSecret(file) : undefined
  return { current, previous, version }
}

/**
 * Replaces the root secret in the file with a new one and keeps the old one as the previous secret. Each step is on
 * disk before the next, so that a crash at any point leaves the secret of the database in one of the files.
 */
export const rotateSecretFile = (databaseFile: string): void => {
  // If the path is a symbolic link, its target is replaced and the link stays.
  const file = realpathSync(rootSecretFile(databaseFile))
  try {
    replaceDurably(previousSecretFile(databaseFile), readFileSync(file, 'utf8'), file)
    replaceDurably(file, `${randomToken(SECRET_BYTES)}\n`, file)
  } catch (error) {
    throw new AppError('unavailable', `The secret beside ${databaseFile} cannot be written; it stays as it was.`, {
      cause: error,
    })
  }
}

/** A text that differs whenever one of the two files has changed. */
const fileVersionOf = (databaseFile: string): string =>
  [rootSecretFile(databaseFile), previousSecretFile(databaseFile)]
    .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
    .map((stat) => (stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : 'none'))
    .join(', ')

/** Stops a secret file that was replaced by mistake from ending every session of a running service. */
const requireContinuity = (known: SecretPair, next: SecretPair, file: string): void => {
  if ([next.current, next.previous].some((secret) => secret && Buffer.compare(secret, known.current) === 0)) return
  throw new AppError(
    'internal_error',
    `${file} was replaced by another secret, and ${file}.previous does not hold the one before: it is not taken over.`,
  )
}

/**
 * Reads the root secret beside a database file; the first start creates it with mode 0600. It is on disk before
 * anything is encrypted with it. Of two processes that start at the same time, one creates it and both use it.
 */
const readOrCreateSecret = (databaseFile: string): Uint8Array => {
  const file = rootSecretFile(databaseFile)
  // The database before the secret: another process that starts now creates them in the opposite order.
  const databaseExists = existsSync(databaseFile)
  if (!existsSync(file)) createSecretFile(file, databaseExists)
  const secret = readSecret(file)
  requireUnguessable(readFileSync(file, 'utf8').trim(), secret, file)
  return secret
}

const readSecret = (file: string): Uint8Array => {
  const secret = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64url')
  if (secret.length >= SECRET_BYTES) return secret
  throw new AppError(
    'internal_error',
    `${file} holds no secret of at least 32 bytes as base64; put the right one back.`,
  )
}

const createSecretFile = (file: string, databaseExists: boolean): void => {
  if (databaseExists) {
    throw new AppError(
      'internal_error',
      `There is a database but no ${file}, and no SVC_SECRET: put back the secret that the database was made with.`,
    )
  }
  makeDataFolder(dirname(file))
  createDurably(file, `${randomToken(SECRET_BYTES)}\n`)
}
