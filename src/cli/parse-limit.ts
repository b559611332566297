import { InvalidArgumentError } from 'commander'

const MAX_LIMIT = 10_000

/** Reads the value of `--limit`: a maximum number of rows. */
export const parseLimit = (text: string): number => {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_LIMIT}.`)
}
