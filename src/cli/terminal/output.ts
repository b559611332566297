import { toTimestamp } from '../../lib/time.ts'
import { createPaint } from './paint.ts'
import { type Column, createTable, recordText } from './table.ts'

/** A terminal that was not told its size says 0. */
const terminalWidth = (): number | undefined => (process.stdout.isTTY && process.stdout.columns) || undefined

/** Writes a part of the result and resolves when it is on its way; rejects with `EPIPE` when nobody reads any more. */
export const print = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })

export const printJson = (value: unknown): Promise<void> => print(`${JSON.stringify(value, null, 2)}\n`)

/** Says something that is not the result. */
export const note = (text: string): void => {
  process.stderr.write(`svc: ${text}\n`)
}

export const printRecord = (pairs: (readonly [string, string])[]): Promise<void> =>
  print(recordText(pairs, createPaint()))

/** What a list is printed from, one page held at a time. */
interface Listing<Row> {
  columns: Column<Row>[]
  toJson: (row: Row) => unknown
  /** Said when there is nothing. */
  empty: string
}

/** A table for people, or one JSON array with an element in each line. */
export const printList = async <Row>(
  pages: Iterable<Row[]> | AsyncIterable<Row[]>,
  { columns, toJson, empty }: Listing<Row>,
  isJson: boolean | undefined,
): Promise<void> => {
  const table = createTable(columns, { width: terminalWidth(), paint: createPaint() })
  let count = 0
  for await (const rows of pages) {
    if (rows.length === 0) continue
    const elements = () => (count > 0 ? ',\n' : '[\n') + rows.map((row) => JSON.stringify(toJson(row))).join(',\n')
    await print(isJson ? elements() : table.page(rows))
    count += rows.length
  }
  if (isJson) await print(count > 0 ? '\n]\n' : '[]\n')
  else if (count === 0) note(empty)
}

/** `2026-11-21 10:47:31`, UTC. */
export const toSecond = (epochMs: number): string => toTimestamp(epochMs).slice(0, 19).replace('T', ' ')

/** `2026-11-21 10:47`, UTC. */
export const toMinute = (epochMs: number): string => toTimestamp(epochMs).slice(0, 16).replace('T', ' ')
