import { type Item, MAX_ITEM_BYTES, parseItem, TOO_LONG } from './item.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Reads JSON Lines: one value a line. Empty lines count, and are left out. */
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

/** The lines of a stream, without their ends; undefined for one that is too long. */
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
