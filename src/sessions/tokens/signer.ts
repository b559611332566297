import type { KeyObject } from 'node:crypto'
import type { SideThread } from '../../lib/side-thread.ts'
import { fromDer, signEs256 } from './es256.ts'

/** Signs with ES256 (RFC 7518 section 3.4); resolves to the signature in base64url. */
export type Sign = (key: KeyObject, message: string) => Promise<string>

interface Request {
  key: KeyObject
  message: string
  resolve: (signature: string) => void
  reject: (error: unknown) => void
}

const TASK = new URL('./sign-task.js', import.meta.url)
/** A batch that goes to the thread and back takes as long as two or three signatures. */
const MIN_BATCH = 4
/** The limit keeps the first responses of a turn from waiting for its last signatures. */
const MAX_BATCH = 32

/**
 * A signature takes longer than anything else in a request. The signatures of one turn of the event loop are computed
 * together, by the side thread if there is one, they are many, and it is free (docs/decisions/030-side-thread.md).
 */
export const createSigner = (sideThread: SideThread | undefined): Sign => {
  let waiting: Request[] = []

  /** It resolves to undefined if the batch must be signed here. */
  const signThere = async (batch: Request[]): Promise<string[] | undefined> => {
    const key = batch[0]?.key
    if (batch.length < MIN_BATCH || batch.some((request) => request.key !== key)) return undefined
    try {
      // One text is handed over in less time than many.
      const text = batch.map(({ message }) => message).join('\n')
      return (await sideThread?.runIfFree<string>(TASK, { key, text }))?.split('\n')
    } catch {
      // The thread has failed, or the key is wrong: then it fails here too.
      return undefined
    }
  }

  const signWaiting = async (): Promise<void> => {
    const batch = waiting
    waiting = []
    const signatures = await signThere(batch)
    if (!signatures) return signHere(batch)
    for (const [index, der] of signatures.entries()) batch[index]?.resolve(fromDer(Buffer.from(der, 'base64')))
  }

  return (key, message) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, message, resolve, reject })
      if (waiting.length === 1) setImmediate(signWaiting)
      if (waiting.length === MAX_BATCH) void signWaiting()
    })
}

const signHere = (batch: Request[]): void => {
  for (const { key, message, resolve, reject } of batch) {
    try {
      resolve(signEs256(key, message))
    } catch (error) {
      reject(error)
    }
  }
}
