import type { FileHandle } from 'node:fs/promises'
import { fingerprintOf } from './fingerprint.ts'

/** The passwords of a list, in any case of their letters. */
export interface PasswordList {
  has(password: string): boolean
}

/** So much is read at once. The requests of others wait for as long as its lines take, some milliseconds. */
const CHUNK_BYTES = 2 ** 18
/** No password has so many bytes. */
const MAX_LINE_BYTES = 4096
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/**
 * Reads one password a line, in any order. Keeps 8 bytes for each, and nothing for lines that are shorter than a password
 * may be.
 */
export const readPasswordList = async (handle: FileHandle, minLength: number): Promise<PasswordList> => {
  const parts: Float64Array[] = []
  const buffer = Buffer.alloc(MAX_LINE_BYTES + CHUNK_BYTES)
  let kept = 0
  let position = 0
  for (let isEnd = false; !isEnd; ) {
    const { bytesRead } = await handle.read({ buffer, offset: kept, length: CHUNK_BYTES, position })
    position += bytesRead
    isEnd = bytesRead === 0
    const filled = buffer.subarray(0, kept + bytesRead)
    const end = isEnd ? filled.length : filled.lastIndexOf(LINE_FEED) + 1
    parts.push(fingerprintsOf(filled.subarray(0, end), minLength))
    // The beginning of a line that goes on. Of one that is too long for a password, enough to know that it is.
    const rest = filled.subarray(Math.max(end, filled.length - MAX_LINE_BYTES))
    kept = rest.copy(buffer)
  }
  return {
    has(password) {
      const wanted = fingerprintOf(Buffer.from(folded(password)))
      return parts.some((part) => isIn(part, wanted))
    },
  }
}

/** The same for both, a line and a password that is looked for. */
const folded = (text: string): string => text.normalize('NFC').toLowerCase()

/** Sorted. */
const fingerprintsOf = (text: Buffer, minLength: number): Float64Array => {
  const found: number[] = []
  let start = text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  while (start < text.length) {
    const lineFeed = text.indexOf(LINE_FEED, start)
    const next = lineFeed === -1 ? text.length : lineFeed
    const end = next > start && text[next - 1] === CARRIAGE_RETURN ? next - 1 : next
    // A character has one byte or more.
    if (end - start >= minLength && end - start < MAX_LINE_BYTES)
      found.push(fingerprintOfLine(text.subarray(start, end)))
    start = next + 1
  }
  return Float64Array.from(found).sort()
}

const fingerprintOfLine = (line: Buffer): number =>
  isAscii(line) ? fingerprintOf(line) : fingerprintOf(Buffer.from(folded(line.toString())))

const isAscii = (line: Buffer): boolean => {
  for (const byte of line) if (byte >= 0x80) return false
  return true
}

const isIn = (sorted: Float64Array, wanted: number): boolean => {
  let from = 0
  let end = sorted.length
  while (from < end) {
    const middle = (from + end) >>> 1
    if ((sorted[middle] ?? 0) < wanted) from = middle + 1
    else end = middle
  }
  return sorted[from] === wanted
}
