import type { Paint, Tone } from './paint.ts'

export interface Column<Row> {
  title: string
  value: (row: Row) => string
  /** To how many characters it may be cut on a narrow terminal; never when left out. */
  least?: number
  /** Which end stays when it is cut; the beginning when left out. */
  keeps?: 'end'
  /** May be left out where there is no room. */
  optional?: boolean
  tone?: (row: Row) => Tone | undefined
}

interface Look {
  /** Characters in a line; undefined: no limit. */
  width: number | undefined
  paint: Paint
}

const GAP = '  '

/** Rows under one another, page by page: columns may grow with a later page, and only the current one is held. */
export const createTable = <Row>(columns: Column<Row>[], { width = Number.POSITIVE_INFINITY, paint }: Look) => {
  let natural = columns.map(({ title }) => lengthOf(title))
  let isFirst = true

  const line = (texts: string[], widths: (number | undefined)[], tones: (Tone | undefined)[]): string => {
    const cells = texts.flatMap((text, index) => {
      const cellWidth = widths[index]
      return cellWidth === undefined ? [] : [{ text: cut(text, cellWidth, columns[index]?.keeps), cellWidth, index }]
    })
    const padded = cells.map(({ text, cellWidth, index }, place) =>
      paint(tones[index], place === cells.length - 1 ? text : text.padEnd(cellWidth)),
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
    /** The next rows as text, with the heading before the first; a record each where a line cannot hold a row. */
    page(rows: Row[]): string {
      const texts = rows.map((row) => columns.map(({ value }) => printable(value(row))))
      natural = natural.map((least, index) =>
        texts.reduce((most, cells) => Math.max(most, lengthOf(cells[index] ?? '')), least),
      )
      const widths = fit(columns, natural, width)
      const text = widths ? asTable(rows, texts, widths) : asRecords(texts)
      isFirst = false
      return text
    },
  }
}

/** A name and a value in each line, the values under one another. */
export const recordText = (pairs: (readonly [string, string])[], paint: Paint): string => {
  const width = Math.max(...pairs.map(([name]) => lengthOf(name)))
  return pairs
    .map(([name, value]) => `${`${paint('dim', name.padEnd(width))}${GAP}${printable(value)}`.trimEnd()}\n`)
    .join('')
}

/** How wide each column is, undefined for one that is left out; undefined when a line is too short for the rest. */
const fit = (
  columns: Pick<Column<never>, 'least' | 'optional'>[],
  natural: number[],
  width: number,
): (number | undefined)[] | undefined => {
  const leasts = natural.map((most, index): number | undefined => Math.min(most, columns[index]?.least ?? most))
  for (let index = columns.length - 1; index >= 0 && totalOf(leasts) > width; index -= 1) {
    if (columns[index]?.optional) leasts[index] = undefined
  }
  if (totalOf(leasts) > width) return undefined
  return shrink(natural, leasts, width)
}

/** Takes from whichever column can spare the most until the line holds them all. */
const shrink = (natural: number[], leasts: (number | undefined)[], width: number): (number | undefined)[] => {
  const widths = natural.map((most, index) => (leasts[index] === undefined ? undefined : most))
  const spare = widths.map((most, index) => (most ?? 0) - (leasts[index] ?? 0))
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

/** What a stranger sent (a device's name, a receiver's answer) must not steer the operator's terminal. */
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '?')
