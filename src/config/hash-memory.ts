import { availableParallelism } from 'node:os'
import { memoryOfMachine, toMiB } from '../lib/memory.ts'
import type { ReadSettings } from './read-settings.ts'

type HashSettings = Pick<ReadSettings, 'argon2' | 'hashesAtOnce' | 'workers'>

/** Of all processes together. */
interface HashMemory {
  hashes: number
  bytes: number
}

/** By default each core computes one hash at a time, of whichever worker. */
export const hashesAtOnceOf = ({ hashesAtOnce, workers }: Omit<HashSettings, 'argon2'>): number =>
  hashesAtOnce ?? Math.max(1, Math.floor(availableParallelism() / workers))

/** What hashes of today's cost hold in memory when as many run as may. */
export const hashMemoryOf = ({ argon2, ...settings }: HashSettings): HashMemory => {
  const hashes = settings.workers * hashesAtOnceOf(settings)
  return { hashes, bytes: hashes * argon2.memoryCost * 1024 }
}

/** Room for the processes themselves, for the database and for the file cache. */
const SHARE_OF_HASHES = 0.5

/** A warning where the hashes at once could take the memory that everything else needs. */
export const warnOfHashMemory = (settings: HashSettings): string[] => {
  const { hashes, bytes } = hashMemoryOf(settings)
  const availableBytes = memoryOfMachine()
  if (bytes <= availableBytes * SHARE_OF_HASHES) return []
  return [
    `SVC_ARGON2 makes ${hashes} hashes at once hold ${toMiB(bytes)} MiB, and there are ${toMiB(availableBytes)} MiB of memory: ` +
      'lower it, SVC_HASHES_AT_ONCE or SVC_WORKERS',
  ]
}

const MAX_FOREIGN_BYTES = 2 ** 30

/** What a hash of another system, or of another cost, may hold: each process checks one of the expensive ones at a time. */
export const foreignHashBytesOf = ({ workers }: Pick<HashSettings, 'workers'>): number =>
  Math.min(MAX_FOREIGN_BYTES, Math.floor((memoryOfMachine() * SHARE_OF_HASHES) / workers))
