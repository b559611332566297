import { type Paint, type Tone, withoutControls } from './text.ts'

export interface Column<Row> {
  title: string
  value: (row: Row) => string
  /** The column may become so narrow on a narrow terminal. Without it, values are never cut. */
  minWidth?: number
  /** A cut value shows its beginning, unless this says otherwise. */
  keeps?: 'end'
  /** The column may be left out on a narrow terminal. */
  optional?: boolean
  tone?: (row: Row) => Tone | undefined
}

interface TableOptions {
  /** It counts characters; undefined is no limit. */
  width: number | undefined
  paint: Paint
}

const GAP = '  '

/** Formats rows as a table, page by page. Only one page is in memory, so a later page may have wider columns. */
export const createTable = <Row>(columns: Column<Row>[], { width = Number.POSITIVE_INFINITY, paint }: TableOptions) => {
  let fullWidths = columns.map(({ title }) => lengthOf(title))
  let isFirst = true

  const line = (texts: string[], widths: (number | undefined)[], tones: (Tone | undefined)[]): string => {
    const cells = texts.flatMap((text, index) => {
      const cellWidth = widths[index]
      return cellWidth === undefined ? [] : [{ text: cut(text, cellWidth, columns[index]?.keeps), cellWidth, index }]
    })
    const padded = cells.map(({ text, cellWidth, index }, position) =>
      paint(tones[index], position === cells.length - 1 ? text : text.padEnd(cellWidth)),
    )
    return `${padded.join(GAP).trimEnd()}\n`
  }

  const asTable = (rows: Row[], texts: string[][], widths: (number | undefined)[]): string => {
    const titles = columns.map(({ title }) => title)
    const heading = isFirst ? line(titles, widths, Array<Tone>(columns.length).fill('dim')) : ''
    const tonesOf = (row: Row) => columns.map(({ tone }) => tone?.(row))
    return heading + rows.map((row, index) => line(texts[index] ?? [], widths, tonesOf(row))).join('')
  }

  const asRecords = (texts: string[][]): string => {
    const records = texts.map((cells) =>
      recordText(
        columns.map(({ title }, index) => [title, cells[index] ?? '']),
        paint,
      ),
    )
    return (isFirst ? '' : '\n') + records.join('\n')
  }

  return {
    /**
     * The next rows, below the titles on the first page. A terminal that is too narrow for a row gets records instead.
     */
    page(rows: Row[]): string {
      const texts = rows.map((row) => columns.map(({ value }) => withoutControls(value(row))))
      fullWidths = fullWidths.map((fullWidth, index) =>
        texts.reduce((widest, cells) => Math.max(widest, lengthOf(cells[index] ?? '')), fullWidth),
      )
      const widths = fit(columns, fullWidths, width)
      const text = widths ? asTable(rows, texts, widths) : asRecords(texts)
      isFirst = false
      return text
    },
  }
}

/** Formats one name and value per line, with the values aligned. */
export const recordText = (pairs: (readonly [string, string])[], paint: Paint): string => {
  const width = Math.max(...pairs.map(([name]) => lengthOf(name)))
  return pairs
    .map(([name, value]) => `${`${paint('dim', name.padEnd(width))}${GAP}${withoutControls(value)}`.trimEnd()}\n`)
    .join('')
}

/**
 * The width of each column, undefined for one that is left out. Undefined if the terminal is too narrow for the rest.
 */
const fit = (
  columns: Pick<Column<never>, 'minWidth' | 'optional'>[],
  fullWidths: number[],
  width: number,
): (number | undefined)[] | undefined => {
  const minWidths = fullWidths.map((full, index): number | undefined =>
    Math.min(full, columns[index]?.minWidth ?? full),
  )
  for (let index = columns.length - 1; index >= 0 && totalOf(minWidths) > width; index -= 1) {
    if (columns[index]?.optional) minWidths[index] = undefined
  }
  if (totalOf(minWidths) > width) return undefined
  return shrink(fullWidths, minWidths, width)
}

/** Narrows the column that can spare the most, one character at a time, until the row fits. */
const shrink = (fullWidths: number[], minWidths: (number | undefined)[], width: number): (number | undefined)[] => {
  const widths = fullWidths.map((full, index) => (minWidths[index] === undefined ? undefined : full))
  const spare = widths.map((full, index) => (full ?? 0) - (minWidths[index] ?? 0))
  for (let excess = totalOf(widths) - width; excess > 0; excess -= 1) {
    const index = spare.indexOf(Math.max(...spare))
    spare[index] = (spare[index] ?? 0) - 1
    widths[index] = (widths[index] ?? 0) - 1
  }
  return widths
}

const totalOf = (widths: (number | undefined)[]): number => {
  const shown = widths.filter((width) => width !== undefined)
  return shown.reduce((sum, width) => sum + width, GAP.length * Math.max(0, shown.length - 1))
}

const lengthOf = (text: string): number => [...text].length

const cut = (text: string, width: number, keeps: 'end' | undefined): string => {
  const characters = [...text]
  if (characters.length <= width) return text
  return keeps === 'end' ? `…${characters.slice(1 - width).join('')}` : `${characters.slice(0, width - 1).join('')}…`
}
