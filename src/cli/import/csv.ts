import { type Item, MAX_ITEM_BYTES, TOO_LONG } from './json.ts'

/**
 * Reads comma-separated values (RFC 4180) whose first record holds the names of the columns. Each further record is an
 * object of strings; empty fields are left out. They are counted from 1.
 */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<Item> {
  let columns: string[] | undefined
  let number = 0
  for await (const fields of readRecords(chunks)) {
    if (columns === undefined) {
      columns = fields ?? []
      continue
    }
    number += 1
    if (fields === undefined) yield { number, problem: TOO_LONG }
    else if (fields.length !== columns.length) {
      yield { number, problem: `it has ${fields.length} fields, and the first line has ${columns.length}` }
    } else yield { number, value: toObject(columns, fields) }
  }
}

const toObject = (columns: string[], fields: string[]): Record<string, string> =>
  Object.fromEntries(
    columns.map((column, index): [string, string] => [column, fields[index] ?? '']).filter(([, field]) => field !== ''),
  )

/** Yields the fields of each record; undefined for one that is too long. */
async function* readRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[] | undefined> {
  const decoder = new TextDecoder()
  const reader = createReader()
  for await (const chunk of chunks) yield* reader.read(decoder.decode(chunk, { stream: true }))
  yield* reader.read('\n')
}

const createReader = () => {
  let fields: string[] = []
  let field = ''
  let length = 0
  /** The character after a quote tells whether that was the last one or the first of two. */
  let state: 'plain' | 'quoted' | 'quote' = 'plain'

  const finish = (): string[] | undefined => {
    const record = length > MAX_ITEM_BYTES ? undefined : [...fields, field.replace(/\r$/, '')]
    fields = []
    field = ''
    length = 0
    return record
  }

  const add = (character: string): void => {
    length += 1
    if (length <= MAX_ITEM_BYTES) field += character
  }

  const step = (character: string): boolean => {
    if (state === 'quoted' && character !== '"') add(character)
    else if (state === 'quoted') state = 'quote'
    else if (state === 'quote' && character === '"') {
      state = 'quoted'
      add(character)
    } else if (character === '\n') {
      state = 'plain'
      return true
    } else if (character === ',') {
      fields.push(field)
      field = ''
      state = 'plain'
    } else if (character === '"' && field === '') state = 'quoted'
    else add(character)
    return false
  }

  return {
    *read(text: string): Generator<string[] | undefined> {
      for (const character of text) {
        if (!step(character)) continue
        const isEmpty = fields.length === 0 && field.trim() === '' && length <= MAX_ITEM_BYTES
        const record = finish()
        if (!isEmpty) yield record
      }
    },
  }
}
