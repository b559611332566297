import { timingSafeEqual } from 'node:crypto'
import { createSideThread, type SideThread } from '../../../lib/side-thread.ts'
import { type ReadForm, WORK_A_SECOND } from './password-hash.ts'

const SHA_CRYPT =
  /^\$(?<id>[56])\$(?:rounds=(?<rounds>[1-9]\d{3,8})\$)?(?<salt>[!-#%-~]{0,16})\$(?<key>[./\dA-Za-z]{43}|[./\dA-Za-z]{86})$/

const DIGESTS = { 5: { digest: 'sha256', keyLength: 43 }, 6: { digest: 'sha512', keyLength: 86 } } as const
const DEFAULT_ROUNDS = 5000

/** Each round takes time for each byte. The C libraries refuse passwords of more than 512 bytes. */
const MAX_PASSWORD_BYTES = 512

const TASK = new URL('./sha-crypt-task.js', import.meta.url)
let thread: SideThread | undefined

/**
 * SHA-crypt with SHA-256 (`$5$`) and SHA-512 (`$6$`), as in `/etc/shadow`. Neither Node nor a kept library has it
 * natively, so it is computed in JavaScript, on a thread of its own.
 */
export const readShaCrypt: ReadForm = (text) => {
  const { id, rounds: written, salt, key = '' } = SHA_CRYPT.exec(text)?.groups ?? {}
  if (id !== '5' && id !== '6') return undefined
  const { digest, keyLength } = DIGESTS[id]
  const rounds = Number(written ?? DEFAULT_ROUNDS)
  if (key.length !== keyLength) return undefined
  return {
    memoryBytes: 0,
    seconds: rounds / WORK_A_SECOND.shaCrypt[digest],
    normalForm: 'NFC',
    hasOwnThread: true,
    async matches(password) {
      thread ??= createSideThread()
      const input = { digest, password: new Uint8Array(password.subarray(0, MAX_PASSWORD_BYTES)), salt, rounds }
      const computed = await thread.run<string>(TASK, input)
      return timingSafeEqual(Buffer.from(computed), Buffer.from(key)) && password.length <= MAX_PASSWORD_BYTES
    },
  }
}
