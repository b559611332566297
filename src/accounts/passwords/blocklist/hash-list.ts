import { hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { HASH_LENGTH, HASH_LINE, MAX_HASH_LINE } from './blocklist-file.ts'

/** So much is read at once in the end. */
const WINDOW_BYTES = 4096

/**
 * Whether a sorted file of `SHA1HEX:COUNT` lines has one of these passwords. Reads about thirty places of a file of any
 * size. Throws where a line has another form.
 */
export const hasHashOf = async (handle: FileHandle, passwords: Iterable<string>): Promise<boolean> => {
  const { size } = await handle.stat()
  for (const password of passwords) if (await hasLine(handle, size, hash('sha1', password))) return true
  return false
}

/** The line of the hash, if there is one, begins at `from` or later, and before `end`. */
const hasLine = async (handle: FileHandle, size: number, wanted: string): Promise<boolean> => {
  let from = 0
  let end = size
  while (end - from > WINDOW_BYTES) {
    const middle = Math.floor((from + end) / 2)
    const { start, found } = await firstLineAfter(handle, middle)
    if (found === wanted) return true
    if (found < wanted) from = start
    else end = start
  }
  const text = await readText(handle, from, end - from + MAX_HASH_LINE)
  return linesBefore(text, end - from).some((line) => hashOf(line, from) === wanted)
}

/** The lines that begin before a place of the text. */
const linesBefore = (text: string, end: number): string[] => {
  const lines: string[] = []
  for (let start = 0; start < end && start < text.length; ) {
    const lineEnd = text.indexOf('\n', start)
    lines.push(text.slice(start, lineEnd === -1 ? undefined : lineEnd))
    start = lineEnd === -1 ? text.length : lineEnd + 1
  }
  return lines
}

const firstLineAfter = async (handle: FileHandle, position: number): Promise<{ start: number; found: string }> => {
  const text = await readText(handle, position, 2 * MAX_HASH_LINE)
  const [before = '', line = ''] = text.split('\n')
  return { start: position + before.length + 1, found: hashOf(line, position) }
}

const hashOf = (line: string, position: number): string => {
  if (!HASH_LINE.test(line)) throw new Error(`a line near byte ${position} is not SHA1HEX:COUNT`)
  return line.slice(0, HASH_LENGTH).toLowerCase()
}

const readText = async (handle: FileHandle, position: number, length: number): Promise<string> => {
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(length), position })
  return buffer.toString('latin1', 0, bytesRead)
}
