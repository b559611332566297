import { escapeControls, toJsonText } from '../../lib/control-characters.ts'
import { type Column, createTable, recordText } from './table.ts'
import { createPaint } from './text.ts'

/** Undefined without a terminal, and for a terminal that reports 0 columns because its size is unknown. */
const terminalWidth = (): number | undefined => (process.stdout.isTTY && process.stdout.columns) || undefined

/** Writes a safe text to stdout. Resolves when it is written; rejects with `EPIPE` when the reader has closed the pipe. */
export const printPainted = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })

/** Writes to stdout, also text that others have chosen. */
export const print = (text: string): Promise<void> => printPainted(escapeControls(text))

export const printJson = (value: unknown): Promise<void> => printPainted(`${toJsonText(value, 2)}\n`)

/** Writes a line to stderr, because stdout is for results. */
export const printNotice = (text: string): void => {
  process.stderr.write(`svc: ${escapeControls(text)}\n`)
}

export const printRecord = (pairs: (readonly [string, string])[]): Promise<void> =>
  printPainted(recordText(pairs, createPaint()))

export interface Listing<Row> {
  columns: Column<Row>[]
  toJson: (row: Row) => unknown
  /** It is printed for an empty list. */
  empty: string
}

/** Prints a table, or a JSON array with one element per line. Only one page of rows is in memory at a time. */
export const printList = async <Row>(
  pages: Iterable<Row[]> | AsyncIterable<Row[]>,
  { columns, toJson, empty }: Listing<Row>,
  isJson: boolean,
): Promise<void> => {
  const table = createTable(columns, { width: terminalWidth(), paint: createPaint() })
  let count = 0
  for await (const rows of pages) {
    if (rows.length === 0) continue
    const elements = () => (count > 0 ? ',\n' : '[\n') + rows.map((row) => toJsonText(toJson(row))).join(',\n')
    await printPainted(isJson ? elements() : table.page(rows))
    count += rows.length
  }
  if (isJson) await print(count > 0 ? '\n]\n' : '[]\n')
  else if (count === 0) printNotice(empty)
}
