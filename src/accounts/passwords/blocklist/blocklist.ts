import { type FileHandle, open } from 'node:fs/promises'
import { unavailable } from '../../../lib/errors.ts'
import { OPEN_FLAGS, requireBlocklistFile } from './blocklist-file.ts'
import { hasHashOf } from './hash-list.ts'
import { readPasswordList } from './password-list.ts'

/** The operator's own list of passwords that are known to others. */
export interface Blocklist {
  /** In any case of its letters, or as typed; `unavailable` while the file cannot be read, or is no list. */
  has(password: string): Promise<boolean>
}

interface BlocklistDeps {
  file: string
  /** Shorter lines need not be kept. */
  minLength: number
}

type Look = (handle: FileHandle, password: string) => boolean | Promise<boolean>

/** How passwords are looked up in the file as it was when it had this stamp. */
interface Learnt {
  stamp: string
  look: Promise<Look>
}

/**
 * Opens the file for each look, so that another one in its place counts at once. While there is none, no password can be
 * set: one that should be refused must not slip through.
 */
export const createBlocklist = ({ file, minLength }: BlocklistDeps): Blocklist => {
  let learnt: Learnt | undefined

  const learn = async (handle: FileHandle): Promise<Look> => {
    if (requireBlocklistFile(file) === 'hashes') return lookForHash
    const list = await readPasswordList(handle, minLength)
    return (_, password) => list.has(password)
  }

  /** All who come while a list is read wait for it together. */
  const lookIn = async (handle: FileHandle): Promise<Look> => {
    const stamp = await stampOf(handle)
    if (learnt?.stamp !== stamp) learnt = { stamp, look: learn(handle) }
    const { look } = learnt
    return look.catch((error: unknown) => {
      if (learnt?.stamp === stamp) learnt = undefined
      throw error
    })
  }

  const has = async (password: string): Promise<boolean> => {
    const handle = await open(file, OPEN_FLAGS)
    try {
      const look = await lookIn(handle)
      return await look(handle, password)
    } finally {
      await handle.close()
    }
  }

  return {
    has: (password) =>
      has(password).catch((error: unknown) => {
        throw unavailable('The list of known passwords (SVC_PASSWORD_BLOCKLIST_FILE) cannot be read.', error)
      }),
  }
}

/** Such lists have passwords as they were typed, most of them in lower case, too. */
const lookForHash: Look = (handle, password) => hasHashOf(handle, new Set([password, password.toLowerCase()]))

/** Changes with the content of the file, and with the file at this path. */
const stampOf = async (handle: FileHandle): Promise<string> => {
  const { dev, ino, size, ctimeNs } = await handle.stat({ bigint: true })
  return [dev, ino, size, ctimeNs].join()
}
