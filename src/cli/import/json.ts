import { inspectJson } from '../../lib/json-members.ts'

/** A user of a file, or its text, may be wrong. `number` counts lines, or the users in a document. */
export type Item = { number: number; value: unknown } | { number: number; problem: string }

/** A user with hundreds of roles and connections needs less: a longer text is no user. */
export const MAX_ITEM_BYTES = 1024 * 1024

export const TOO_LONG = 'it is longer than 1 MiB'

/** Parses a JSON text. Problems do not repeat a value of the text, which may be a password. */
const parseItem = (number: number, text: string): Item => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { number, problem: 'it is not valid JSON' }
  }
  const { repeated } = inspectJson(text)
  if (repeated === undefined) return { number, value }
  return { number, problem: `${repeated.slice(0, 40)}: it is there more than once` }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Reads JSON Lines, one value a line. Empty lines count, and are left out. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Item> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let number = 0
  for await (const line of splitLines(chunks)) {
    number += 1
    const item = readLine(decoder, number, line)
    if (item) yield item
  }
}

const readLine = (
  decoder: InstanceType<typeof TextDecoder>,
  number: number,
  line: Buffer | undefined,
): Item | undefined => {
  if (line === undefined) return { number, problem: TOO_LONG }
  const end = line.at(-1) === CARRIAGE_RETURN ? -1 : undefined
  let text: string
  try {
    // The decoder drops a byte order mark.
    text = decoder.decode(line.subarray(0, end))
  } catch {
    return { number, problem: 'it is not valid UTF-8' }
  }
  return text.trim() === '' ? undefined : parseItem(number, text)
}

/** Yields the lines of a stream, without their ends; undefined for one that is too long. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  let pieces: Buffer[] = []
  let length = 0
  const take = (piece: Buffer): void => {
    length += piece.length
    if (length > MAX_ITEM_BYTES) pieces = []
    else pieces.push(piece)
  }
  const finish = (): Buffer | undefined => {
    const line = length > MAX_ITEM_BYTES ? undefined : Buffer.concat(pieces)
    pieces = []
    length = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start)
      if (end === -1) break
      take(chunk.subarray(start, end))
      yield finish()
      start = end + 1
    }
    if (start < chunk.length) take(chunk.subarray(start))
  }
  if (length > 0) yield finish()
}

/**
 * Finds the users of a JSON document without holding it in memory: the objects of the array `member` of the outermost
 * object, or else the objects of the outermost array, or of a sequence of objects (JSON Lines). They are counted from 1.
 */
export async function* readJsonObjects(chunks: AsyncIterable<Buffer>, member?: string): AsyncGenerator<Item> {
  const finder = createFinder(member)
  const decoder = new TextDecoder('utf-8', { fatal: false })
  for await (const chunk of chunks) yield* finder.read(decoder.decode(chunk, { stream: true }))
  yield* finder.end()
}

const createFinder = (member: string | undefined) => {
  /** It holds each open `{` or `[`. */
  const open: string[] = []
  let inString = false
  let isEscaped = false
  /** The last string of the outermost object is the name of a member when a `:` follows. */
  let name = ''
  /** So many brackets are open around each user; undefined outside of the array of users. */
  let depth: number | undefined
  let number = 0
  let object: string | undefined
  let isTooLong = false

  /** Tells whether the brackets that are open are those around each user. */
  const isAround = (): boolean => {
    if (open[0] === '[') return open.length === 1
    return open.length === (member === undefined ? 0 : depth)
  }

  const append = (text: string): void => {
    isTooLong ||= (object ?? '').length + text.length > MAX_ITEM_BYTES
    object = isTooLong ? '' : `${object ?? ''}${text}`
  }

  const finish = (): Item => {
    number += 1
    const text = object ?? ''
    object = undefined
    return isTooLong ? { number, problem: TOO_LONG } : parseItem(number, text)
  }

  /** Moves past one character. */
  const step = (character: string): void => {
    if (inString) {
      if (isEscaped) isEscaped = false
      else if (character === '\\') isEscaped = true
      else if (character === '"') inString = false
      else if (open.length === 1 && name.length < 100) name += character
    } else if (character === '"') {
      inString = true
      if (open.length === 1) name = ''
    } else if (character === '{' || character === '[') {
      open.push(character)
      if (character === '[' && open.length === 2 && name === member) depth = 2
    } else if (character === '}' || character === ']') {
      open.pop()
      if (open.length < (depth ?? 0)) depth = undefined
    }
  }

  return {
    *read(text: string): Generator<Item> {
      let start = 0
      for (let index = 0; index < text.length; index += 1) {
        const character = text.charAt(index)
        if (object === undefined && !inString && character === '{' && isAround()) {
          object = ''
          isTooLong = false
          start = index
        }
        step(character)
        if (object !== undefined && !inString && character === '}' && isAround()) {
          append(text.slice(start, index + 1))
          yield finish()
        }
      }
      if (object !== undefined) append(text.slice(start))
    },
    *end(): Generator<Item> {
      if (object !== undefined) yield { number: number + 1, problem: 'the file ends in the middle of it' }
    },
  }
}
