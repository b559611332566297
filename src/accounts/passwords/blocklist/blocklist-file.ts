import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { AppError } from '../../../lib/errors.ts'

/** What a line of the file holds. */
export type BlocklistForm = 'passwords' | 'hashes'

/** `SHA1HEX:COUNT`, as the list of known passwords is downloaded; also without the count. */
export const HASH_LINE = /^[\da-f]{40}(?::\d{1,15})?[ \t]*\r?$/i
export const HASH_LENGTH = 40
/** Longer than any line of a hash. */
export const MAX_HASH_LINE = 128

/** What was meant for a hash, whatever follows it: nobody has a list of passwords that begins so. */
const HASH_BEGINNING = /^["'\s]*[\da-f]{40}/i
/** Hashes of 32 and 64 digits, which do not say what SHA-1 makes of a password. */
const OTHER_HASH_LINE = /^["'\s]*(?:[\da-f]{32}|[\da-f]{64})(?:[^\da-z]|$)/i

/** To read. Who opens a named pipe would wait for a writer otherwise, without a word. */
export const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/** A list of passwords takes memory: 8 bytes for each line. */
const MAX_PASSWORDS_BYTES = 2 ** 28

/** So much of the file is read whole; of the rest, a line here and there. */
const HEAD_BYTES = 2 ** 16
const SAMPLES = 64

const BYTE_ORDER_MARK = '\ufeff'
const LONE_RETURN = /\r[^\r]/
/** How much of what follows a hash is shown. */
const SHOWN_CHARACTERS = 20

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
  const head = readHead(descriptor, stats.size)
  const lines = head.replace(BYTE_ORDER_MARK, '').split('\n')
  const first = lines.find((line) => line.trim() !== '')
  if (first === undefined) throw wrong('is empty')
  if (LONE_RETURN.test(head) && lines.length === 1) throw wrong('has no line feeds at the ends of its lines')
  if (OTHER_HASH_LINE.test(first)) throw wrong('has hashes that are not SHA-1: get the list with those of SHA-1')
  if (!areHashes(first, lines)) return requirePasswords(stats.size)
  if (head.startsWith(BYTE_ORDER_MARK)) throw wrong('begins with a byte order mark: save it without')
  requireSorted(lines.slice(0, stats.size > HEAD_BYTES ? -1 : undefined))
  if (stats.size > HEAD_BYTES) requireSortedSamples(descriptor, stats.size)
  return 'hashes'
}

/** Taken for passwords, a list of hashes would refuse none: a mistake in a line, or a title above, must not do that. */
const areHashes = (first: string, lines: string[]): boolean =>
  HASH_BEGINNING.test(first) || lines.filter((line) => HASH_BEGINNING.test(line)).length > lines.length / 2

/** The beginning, as text. Its last character may be cut off where the file goes on. */
const readHead = (descriptor: number, size: number): string => {
  const bytes = read(descriptor, 0, HEAD_BYTES)
  if (bytes.includes(0)) throw wrong('is no text: it must be UTF-8, and not compressed')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: size > HEAD_BYTES })
  } catch {
    const lines = bytes.toString('latin1').split('\n')
    const index = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')))
    throw wrong(`is not UTF-8 in line ${index + 1}: save it as UTF-8`)
  }
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
    if (!HASH_LINE.test(line)) throw malformed(`line ${index + 1}`, line)
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
      if (!HASH_LINE.test(line)) throw malformed(`a line near byte ${position}`, line)
      if (hashOf(line) < former) throw notSorted(`a line near byte ${position}`)
      former = hashOf(line)
    }
  }
}

const hashOf = (line: string): string => line.slice(0, HASH_LENGTH).toLowerCase()

const readText = (descriptor: number, position: number, length: number): string =>
  read(descriptor, position, length).toString('latin1')

const read = (descriptor: number, position: number, length: number): Buffer => {
  const buffer = Buffer.alloc(length)
  return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position))
}

/** Shows what is beside the hash. Of a line without a hash nothing: it may be a password. */
const malformed = (where: string, line: string): AppError => {
  const [before, after] = line.split(/[\da-f]{40}/i, 2)
  const problem = `has ${where} that is not SHA1HEX:COUNT`
  if (after === undefined) return wrong(problem)
  const shown = `${before}SHA1HEX${after.slice(0, SHOWN_CHARACTERS)}`.replace(/[^\t -~]/g, '?')
  return wrong(`${problem}, but ${JSON.stringify(shown)}`)
}

const notSorted = (where: string): AppError =>
  wrong(
    `is not sorted: ${where} comes before the one above it. Sort it with LC_ALL=C sort, or get the list ordered by hash`,
  )

const wrong = (message: string): AppError => new AppError('unprocessable', message)
