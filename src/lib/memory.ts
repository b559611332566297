import { totalmem } from 'node:os'

/** The memory that this process may use, in bytes: that of its container, where it has a limit, otherwise all there is. */
export const memoryOfMachine = (): number =>
  // Without a limit, it is 0 or more than there is.
  Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem())

export const toMiB = (bytes: number): number => Math.ceil(bytes / 2 ** 20)
