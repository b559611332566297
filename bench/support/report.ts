import type { RequestBudget } from '../budget/budget.ts'
import { pairedRatios, type Spread, spread } from './statistics.ts'

/** One measured figure beside its baseline. */
export interface Row {
  what: string
  unit: string
  baseline?: number
  svc: number
  ratio?: Spread
  goal?: string
  reached?: boolean
}

export interface Report {
  title: string
  rows: Row[]
  /** Shown in place of the rows. */
  table?: Table
  budgets?: RequestBudget[]
  notes: string[]
}

interface Table {
  header: string[]
  lines: string[][]
}

interface Goal {
  atLeast?: number
  atMost?: number
}

const meets = (value: number, { atLeast = -Infinity, atMost = Infinity }: Goal): boolean =>
  value >= atLeast && value <= atMost

const sign = ({ atLeast, atMost }: Goal): string => (atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`)

/** A row with the median of the ratios to the baseline, round by round. The goal, if any, applies to the ratio. */
export const ratioRow = (
  what: string,
  { unit, svc, baseline, goal }: { unit: string; svc: number[]; baseline: number[]; goal?: Goal },
): Row => {
  const ratio = spread(pairedRatios(svc, baseline))
  const row: Row = { what, unit, baseline: spread(baseline).median, svc: spread(svc).median, ratio }
  return goal ? { ...row, goal: `${sign(goal)} ×`, reached: meets(ratio.median, goal) } : row
}

interface LimitedFigure {
  unit: string
  svc: number | undefined
  baseline?: number | undefined
  goal: Goal
}

/** A row whose goal applies to the figure itself; the baseline is only shown beside it. */
export const limitRow = (what: string, { unit, svc = Number.NaN, baseline, goal }: LimitedFigure): Row => ({
  what,
  unit,
  svc,
  ...(baseline === undefined ? {} : { baseline }),
  goal: `${sign(goal)} ${unit}`.trim(),
  reached: meets(svc, goal),
})

const HEADER = ['what', 'baseline', 'svc', 'ratio', 'goal', 'reached']

const formatNumber = (value: number): string => {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1)
}

const formatCells = (row: Row): string[] => [
  row.what,
  row.baseline === undefined ? '' : `${formatNumber(row.baseline)} ${row.unit}`.trim(),
  `${formatNumber(row.svc)} ${row.unit}`.trim(),
  row.ratio ? `${row.ratio.median.toFixed(2)} [${row.ratio.min.toFixed(2)}..${row.ratio.max.toFixed(2)}]` : '',
  row.goal ?? '',
  row.reached === undefined ? '' : row.reached ? 'yes' : 'no',
]

const toTable = ({ rows, table }: Report): Table => table ?? { header: HEADER, lines: rows.map(formatCells) }

/** A table with aligned columns, for a terminal. */
export const formatTable = (report: Report): string => {
  const { header, lines } = toTable(report)
  const all = [header, ...lines]
  const widths = header.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)))
  const align = (cell: string, column: number): string =>
    holdsFigures(header, column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
  const aligned = all.map((cells) => cells.map((cell, column) => align(cell, column)).join('  '))
  return [report.title, '', ...aligned.map((line) => line.trimEnd()), '', ...report.notes].join('\n')
}

/** The columns that hold figures: all but the first in a table of its own form. */
const holdsFigures = (header: readonly string[], column: number): boolean =>
  header === HEADER ? column === 1 || column === 2 : column > 0

/** The same table in Markdown. */
export const formatMarkdown = (report: Report): string => {
  const { title, notes } = report
  const { header, lines: body } = toTable(report)
  const lines = [header, header.map((_, column) => (holdsFigures(header, column) ? '--:' : '---')), ...body]
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  return [`### ${title}`, table, ...notes.map((note) => `- ${note}`)].join('\n\n').replaceAll('\n\n- ', '\n- ')
}
