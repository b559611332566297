import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { AppError } from '../../lib/errors.ts'

/** What a line of the file holds. */
export type BlocklistForm = 'passwords' | 'hashes'

/** `SHA1HEX:COUNT`, as the list of known passwords is downloaded; also without the count. */
export const HASH_LINE = /^[\da-f]{40}(?::\d{1,15})?[ \t]*\r?$/i
export const HASH_LENGTH = 40
/** Longer than any line of a hash. */
export const MAX_HASH_LINE = 128

/** Other lists of the same source, which do not say what SHA-1 makes of a password. */
const OTHER_HASH_LINE = /^(?:[\da-f]{32}|[\da-f]{64}):\d+\s*$/i

/** To read. Who opens a named pipe would wait for a writer otherwise, without a word. */
export const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** A list of passwords takes memory: 8 bytes for each line. */
const MAX_PASSWORDS_BYTES = 2 ** 28

/** So much of the file is read whole; of the rest, a line here and there. */
const HEAD_BYTES = 2 ** 16
const SAMPLES = 64

const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf'

/**
 * Finds out which form the file has. A list of hashes must be sorted: its beginning, its end, and lines all over it are
 * compared. `unprocessable` with what is wrong.
 */
export const requireBlocklistFile = (file: string): BlocklistForm => {
  const descriptor = orRefuse(file, () => openSync(file, OPEN_FLAGS))
  try {
    return orRefuse(file, () => formOf(descriptor))
  } finally {
    closeSync(descriptor)
  }
}

const orRefuse = <T>(file: string, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    const problem =
      error instanceof AppError ? error.message : `cannot be read (${(error as NodeJS.ErrnoException).code})`
    throw wrong(`${JSON.stringify(file)} ${problem}`)
  }
}

const formOf = (descriptor: number): BlocklistForm => {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) throw wrong('is no regular file')
  const head = readText(descriptor, 0, HEAD_BYTES)
  if (head.includes('\0')) throw wrong('is no text: it must be UTF-8, and not compressed')
  const lines = head.split('\n')
  const first = lines.find((line) => line.trim() !== '')
  if (first === undefined) throw wrong('is empty')
  if (OTHER_HASH_LINE.test(first)) throw wrong('has hashes that are not SHA-1: get the list with those of SHA-1')
  if (!HASH_LINE.test(first.replace(BYTE_ORDER_MARK, ''))) return requirePasswords(stats.size)
  if (first.startsWith(BYTE_ORDER_MARK)) throw wrong('begins with a byte order mark: save it without')
  requireSorted(lines.slice(0, stats.size > HEAD_BYTES ? -1 : undefined))
  if (stats.size > HEAD_BYTES) requireSortedSamples(descriptor, stats.size)
  return 'hashes'
}

const requirePasswords = (size: number): BlocklistForm => {
  if (size <= MAX_PASSWORDS_BYTES) return 'passwords'
  throw wrong(
    `has one password a line and more than ${MAX_PASSWORDS_BYTES / 2 ** 20} MiB: so large a list must have SHA1HEX:COUNT lines, sorted`,
  )
}

/** The lines of a whole file, or of its beginning. */
const requireSorted = (lines: string[]): void => {
  let former = ''
  for (const [index, line] of lines.entries()) {
    if (line === '' && index === lines.length - 1) return
    if (!HASH_LINE.test(line)) throw wrong(`has line ${index + 1} that is not SHA1HEX:COUNT`)
    if (hashOf(line) < former) throw notSorted(`line ${index + 1}`)
    former = hashOf(line)
  }
}

const requireSortedSamples = (descriptor: number, size: number): void => {
  let former = ''
  for (let index = 0; index <= SAMPLES; index += 1) {
    const position = Math.floor(((size - 2 * MAX_HASH_LINE) * index) / SAMPLES)
    const [, ...lines] = readText(descriptor, position, 2 * MAX_HASH_LINE).split('\n')
    // The last one may go on, unless it is the end of the file.
    const whole = index === SAMPLES ? lines.filter((line) => line !== '') : lines.slice(0, 1)
    for (const line of whole.length > 0 ? whole : ['']) {
      if (!HASH_LINE.test(line)) throw wrong(`has a line near byte ${position} that is not SHA1HEX:COUNT`)
      if (hashOf(line) < former) throw notSorted(`a line near byte ${position}`)
      former = hashOf(line)
    }
  }
}

const hashOf = (line: string): string => line.slice(0, HASH_LENGTH).toLowerCase()

const readText = (descriptor: number, position: number, length: number): string => {
  const buffer = Buffer.alloc(length)
  return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, length, position))
}

const notSorted = (where: string): AppError =>
  wrong(
    `is not sorted: ${where} comes before the one above it. Sort it with LC_ALL=C sort, or get the list ordered by hash`,
  )

const wrong = (message: string): AppError => new AppError('unprocessable', message)
