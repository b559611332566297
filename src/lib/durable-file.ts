import {
  closeSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { randomToken } from './secrets.ts'

/** Creates a file with mode 0600, and returns when it is on disk. A file that exists already is kept. */
export const createDurably = (file: string, text: string): void =>
  withDraft(file, (draft) => {
    writeDurably(draft, text)
    try {
      // Unlike a rename, a link never replaces a file that another process has created in the meantime.
      linkSync(draft, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  })

/** Replaces a file atomically: after a crash it has its old or its new content. The owner is that of `ownerFile`. */
export const replaceDurably = (file: string, text: string, ownerFile: string): void =>
  withDraft(file, (draft) => {
    writeDurably(draft, text, statSync(ownerFile))
    renameSync(draft, file)
  })

const withDraft = (file: string, work: (draft: string) => void): void => {
  // A random name, so that a file left behind by a crash does not block the next attempt.
  const draft = `${file}.${randomToken(6)}`
  try {
    work(draft)
  } finally {
    rmSync(draft, { force: true })
  }
  // The new name is in the folder, which is on disk only after a sync of its own.
  syncFolder(dirname(file))
}

const writeDurably = (file: string, text: string, owner?: Stats): void => {
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

/**
 * Makes a folder for the database or the root secret, for its owner alone, unless it is there. A folder that svc makes
 * stands beside the code of an application, perhaps: it keeps itself out of its repository.
 */
export const makeDataFolder = (folder: string): void => {
  const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined
  if (isNew) writeFileSync(join(folder, '.gitignore'), '*\n')
}
