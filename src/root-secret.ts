import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { randomToken } from './lib/secrets.ts'
import { AppError } from './lib/errors.ts'

const FILE_NAME = 'svc.secret'
const SECRET_BYTES = 32

/** Where the secret of a SQLite database lies. */
export const rootSecretFile = (databaseFile: string): string => join(dirname(databaseFile), FILE_NAME)

/**
 * The root secret beside a database file, made at first start with mode 0600. It is on disk before anything is
 * encrypted with it, and of two processes that start at once, one makes it and both use it.
 */
export const loadRootSecret = (databaseFile: string): Uint8Array => {
  const file = rootSecretFile(databaseFile)
  // In this order: another process that starts just now makes the secret first, and then the database.
  const databaseExists = existsSync(databaseFile)
  if (!existsSync(file)) create(file, databaseExists)
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

const writeDurably = (file: string, text: string): void => {
  const descriptor = openSync(file, 'wx', 0o600)
  writeSync(descriptor, text)
  fsyncSync(descriptor)
  closeSync(descriptor)
}

const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
