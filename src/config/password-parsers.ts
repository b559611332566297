import { requireBlocklistFile } from '../accounts/passwords/blocklist/blocklist-file.ts'
import { parser } from './parsers.ts'

/** What a password hash costs; memory in KiB. */
interface Argon2Cost {
  memoryCost: number
  timeCost: number
  parallelism: number
}

/** OWASP Password Storage Cheat Sheet: the least memory in KiB for so many passes, all of them equally hard to guess. */
const LEAST_MEMORY: Record<number, number> = { 1: 47_104, 2: 19_456, 3: 12_288, 4: 9216, 5: 7168 }
const MOST_NAMED_PASSES = Object.keys(LEAST_MEMORY).length

/** What svc checks of foreign hashes, too: its own exports can be imported anywhere. */
const MAX_MEMORY = 1_048_576
const MAX_WORK = 10 * MAX_MEMORY
const MAX_LANES = 16

const LEAST = Object.entries(LEAST_MEMORY).map(([passes, memory]) => `m=${memory},t=${passes}`)

/** The cost of new password hashes, as it stands in a hash: `m=19456,t=2,p=1`. */
export const argon2Cost = parser(
  `KiB of memory, passes and lanes as in m=19456,t=2,p=1: at least ${LEAST.join(' or ')}; at most m=${MAX_MEMORY} (1 GiB), ` +
    `m times t ${MAX_WORK} (about 10 s) and p=${MAX_LANES}`,
  (text): Argon2Cost | undefined => {
    const [, memoryCost = 0, timeCost = 0, parallelism = 0] =
      /^m=([1-9]\d{0,6}),t=([1-9]\d{0,3}),p=([1-9]\d?)$/.exec(text)?.map(Number) ?? []
    const leastMemory = LEAST_MEMORY[Math.min(timeCost, MOST_NAMED_PASSES)] ?? Number.POSITIVE_INFINITY
    const isAccepted =
      memoryCost >= leastMemory &&
      memoryCost <= MAX_MEMORY &&
      memoryCost * timeCost <= MAX_WORK &&
      parallelism <= MAX_LANES
    return isAccepted ? { memoryCost, timeCost, parallelism } : undefined
  },
)

/** A file that is looked into when it is read: a mistake in it must not wait for the first signup. */
export const blocklistFile = parser(
  'the path of a UTF-8 file with one password a line, or with SHA1HEX:COUNT a line, sorted',
  (file) => {
    requireBlocklistFile(file)
    return file
  },
)
