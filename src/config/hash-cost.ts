import { memoryOfMachine, toMiB } from '../lib/machine.ts'
import { parser } from './parsers.ts'

interface Argon2Cost {
  memoryCost: number
  timeCost: number
  parallelism: number
}

/** OWASP Password Storage Cheat Sheet: the least memory in KiB for so many passes, all of them equally hard to guess. */
const LEAST_MEMORY: Record<number, number> = { 1: 47_104, 2: 19_456, 3: 12_288, 4: 9216, 5: 7168 }
const MOST_NAMED_PASSES = Object.keys(LEAST_MEMORY).length

/** Foreign hashes have the same limits, so that the exports of one svc can be imported by any other. */
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

interface HashSettings {
  argon2: Argon2Cost
  hashesAtOnce: number
}

/** The memory that hashes of today's cost hold when as many run as may. */
export const hashMemoryOf = ({ hashesAtOnce, argon2 }: HashSettings): number => hashesAtOnce * argon2.memoryCost * 1024

/** The rest is for the process itself, for the database and for the file cache. */
const SHARE_OF_HASHES = 0.5

/** A warning where the hashes at once could take the memory that everything else needs. */
export const warnOfHashMemory = (settings: HashSettings): string | false => {
  const bytes = hashMemoryOf(settings)
  const availableBytes = memoryOfMachine()
  return (
    bytes > availableBytes * SHARE_OF_HASHES &&
    `SVC_ARGON2 makes ${settings.hashesAtOnce} hashes at once hold ${toMiB(bytes)} MiB, and there are ${toMiB(availableBytes)} MiB of memory: ` +
      'lower it or SVC_HASHES_AT_ONCE'
  )
}

const MAX_FOREIGN_BYTES = 2 ** 30

/** The memory that a hash of another system, or of another cost, may hold: one of the expensive ones is checked at a time. */
export const foreignHashBytes = (): number =>
  Math.min(MAX_FOREIGN_BYTES, Math.floor(memoryOfMachine() * SHARE_OF_HASHES))
