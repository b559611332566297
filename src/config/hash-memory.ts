import { availableParallelism } from 'node:os'
import { memoryOfMachine, toMiB } from '../lib/memory.ts'
import type { ReadSettings } from './read-settings.ts'

type HashSettings = Pick<ReadSettings, 'argon2' | 'hashesAtOnce'>

/** By default each core computes one hash at a time. */
export const hashesAtOnceOf = ({ hashesAtOnce }: Pick<HashSettings, 'hashesAtOnce'>): number =>
  hashesAtOnce ?? availableParallelism()

/** The memory that hashes of today's cost hold when as many run as may. */
export const hashMemoryOf = (settings: HashSettings): { hashes: number; bytes: number } => {
  const hashes = hashesAtOnceOf(settings)
  return { hashes, bytes: hashes * settings.argon2.memoryCost * 1024 }
}

/** The rest is for the process itself, for the database and for the file cache. */
const SHARE_OF_HASHES = 0.5

/** A warning where the hashes at once could take the memory that everything else needs. */
export const warnOfHashMemory = (settings: HashSettings): string[] => {
  const { hashes, bytes } = hashMemoryOf(settings)
  const availableBytes = memoryOfMachine()
  if (bytes <= availableBytes * SHARE_OF_HASHES) return []
  return [
    `SVC_ARGON2 makes ${hashes} hashes at once hold ${toMiB(bytes)} MiB, and there are ${toMiB(availableBytes)} MiB of memory: ` +
      'lower it or SVC_HASHES_AT_ONCE',
  ]
}

const MAX_FOREIGN_BYTES = 2 ** 30

/** The memory that a hash of another system, or of another cost, may hold: one of the expensive ones is checked at a time. */
export const foreignHashBytes = (): number =>
  Math.min(MAX_FOREIGN_BYTES, Math.floor(memoryOfMachine() * SHARE_OF_HASHES))
