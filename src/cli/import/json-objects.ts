import { type Item, MAX_ITEM_BYTES, parseItem, TOO_LONG } from './item.ts'

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

/** How deep the scanner is, and where in the text. */
interface Scan {
  /** What is open: `{` or `[`. */
  open: string[]
  inString: boolean
  isEscaped: boolean
  /** The last string of the outermost object, which is the name of a member when a `:` follows. */
  text: string
  /** How many brackets are open around each user; undefined outside of the array of users. */
  depth: number | undefined
}

const createFinder = (member: string | undefined) => {
  const scan: Scan = { open: [], inString: false, isEscaped: false, text: '', depth: undefined }
  let number = 0
  let object: string | undefined
  let isTooLong = false

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

  const begins = (character: string): boolean => character === '{' && scan.open.length === depthOf(scan, member)

  return {
    *read(text: string): Generator<Item> {
      let start = 0
      for (let index = 0; index < text.length; index += 1) {
        const character = text.charAt(index)
        if (object === undefined && !scan.inString && begins(character)) {
          object = ''
          isTooLong = false
          start = index
        }
        step(scan, character, member)
        if (object !== undefined && !scan.inString && character === '}' && scan.open.length === depthOf(scan, member)) {
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

/** How many brackets are open right before a user; undefined where no user can begin. */
const depthOf = ({ open, depth }: Scan, member: string | undefined): number | undefined => {
  if (open[0] === '[') return 1
  return member === undefined ? 0 : depth
}

/** Moves past one character. */
const step = (scan: Scan, character: string, member: string | undefined): void => {
  if (scan.inString) {
    if (scan.isEscaped) scan.isEscaped = false
    else if (character === '\\') scan.isEscaped = true
    else if (character === '"') scan.inString = false
    else if (scan.open.length === 1 && scan.text.length < 100) scan.text += character
    return
  }
  if (character === '"') {
    scan.inString = true
    if (scan.open.length === 1) scan.text = ''
  } else if (character === '{' || character === '[') {
    scan.open.push(character)
    if (character === '[' && scan.open.length === 2 && scan.text === member) scan.depth = 2
  } else if (character === '}' || character === ']') {
    scan.open.pop()
    if (scan.open.length < (scan.depth ?? 0)) scan.depth = undefined
  }
}
