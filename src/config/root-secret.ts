import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createRootSecret, type RootSecret, type SecretPair } from '../lib/derived-keys.ts'
import { AppError } from '../lib/errors.ts'
import { randomToken } from '../lib/secrets.ts'
import { requireRandom } from '../lib/weak-secret.ts'

const FILE_NAME = 'svc.secret'
const SECRET_BYTES = 32

/** Where the secret of a SQLite database lies. */
export const rootSecretFile = (databaseFile: string): string => join(dirname(databaseFile), FILE_NAME)

/** Where the one before it lies, for as long as what was made with it is accepted. */
export const previousSecretFile = (databaseFile: string): string => `${rootSecretFile(databaseFile)}.previous`

/**
 * The root secret beside a database file with the one before it; made at first start. A rotation by another process is
 * taken over when it is looked for. What is read then has to go
 * together with what is known.
 */
export const openSecretFile = (databaseFile: string, { onChange, onProblem }: Listeners = {}): RootSecret => {
  let known = loadPair(databaseFile)
  return createRootSecret(known, () => {
    if (stampOf(databaseFile) === known.stamp) return undefined
    try {
      const next = loadPair(databaseFile)
      requireContinuity(known, next, rootSecretFile(databaseFile))
      const isRotated = Buffer.compare(next.current, known.current) !== 0
      known = next
      if (isRotated) onChange?.()
      return next
    } catch (error) {
      // What is known goes on being good. One problem is told once.
      known = { ...known, stamp: stampOf(databaseFile) }
      onProblem?.(error as Error)
      return undefined
    }
  })
}

interface Listeners {
  /** Another process has rotated the secret. */
  onChange?: () => void
  /** The files do not go together with what is known: that goes on being used. */
  onProblem?: (error: Error) => void
}

interface Loaded extends SecretPair {
  stamp: string
}

const loadPair = (databaseFile: string): Loaded => {
  // In this order: a change that comes in between is seen by the next look. A rotation writes the previous secret first.
  const stamp = stampOf(databaseFile)
  const current = loadRootSecret(databaseFile)
  const file = previousSecretFile(databaseFile)
  const previous = existsSync(file) ? readSecret(file) : undefined
  return { current, previous, stamp }
}

/**
 * Puts a new root secret in the place of the one in the file, which stays beside it as the previous one. Each step is on
 * disk before the next, so that a kill leaves files that hold the secret of the database.
 */
export const rotateSecretFile = (databaseFile: string): void => {
  // A link stays one; what it leads to is replaced.
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

/** The file has its old content or the new one, and the owner of `model`, no matter who runs the command. */
const replaceDurably = (file: string, text: string, model: string): void => {
  const draft = `${file}.${randomToken(6)}`
  try {
    writeDurably(draft, text, statSync(model))
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(file))
}

/** Changes with each change of the files. */
const stampOf = (databaseFile: string): string =>
  [rootSecretFile(databaseFile), previousSecretFile(databaseFile)]
    .map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
    .map((stat) => (stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : 'none'))
    .join(', ')

/** A file that was replaced by a mistake must not log everybody out while the service runs. */
const requireContinuity = (known: SecretPair, next: SecretPair, file: string): void => {
  if ([next.current, next.previous].some((secret) => secret && Buffer.compare(secret, known.current) === 0)) return
  throw new AppError(
    'internal_error',
    `${file} was replaced by another secret, and ${file}.previous does not hold the one before: it is not taken over.`,
  )
}

/**
 * The root secret beside a database file, made at first start with mode 0600. It is on disk before anything is
 * encrypted with it, and of two processes that start at once, one makes it and both use it.
 */
const loadRootSecret = (databaseFile: string): Uint8Array => {
  const file = rootSecretFile(databaseFile)
  // In this order: another process that starts just now makes the secret first, and then the database.
  const databaseExists = existsSync(databaseFile)
  if (!existsSync(file)) create(file, databaseExists)
  const secret = readSecret(file)
  requireRandom(readFileSync(file, 'utf8').trim(), secret, file)
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

const create = (file: string, databaseExists: boolean): void => {
  if (databaseExists) {
    throw new AppError(
      'internal_error',
      `There is a database but no ${file}, and no SVC_SECRET: put back the secret that the database was made with.`,
    )
  }
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  // Its name comes back never, so that what a crash leaves behind is in nobody's way.
  const draft = `${file}.${randomToken(6)}`
  try {
    writeDurably(draft, `${randomToken(SECRET_BYTES)}\n`)
    // Unlike a rename, a link never replaces what another process has put there meanwhile.
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(file))
}

const writeDurably = (file: string, text: string, owner?: { uid: number; gid: number }): void => {
  const descriptor = openSync(file, 'wx', 0o600)
  writeSync(descriptor, text)
  if (owner && process.getuid?.() === 0) fchownSync(descriptor, owner.uid, owner.gid)
  fsyncSync(descriptor)
  closeSync(descriptor)
}

const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
