// The rates of the service as shares of the limit, which is what bare Node, the bare hash or the bare query reaches.
import type { Report, Row } from '../support/report.ts'
import type { Spread } from '../support/statistics.ts'
import { element, picture, type Svg, text } from './svg.ts'
import type { Theme } from './theme.ts'

const WIDTH = 800
const BARS = { left: 340, right: 670 }
const RATIO_X = 738
const GOAL_X = 785
const TOP = 78
const LINE = 26
const BAR = 12
const GRID_STEP = 0.25

type LimitRow = Row & { ratio: Spread }

interface Group {
  title: string
  rows: LimitRow[]
}

/** The rows with a least ratio to the baseline as their goal: of the others, less is better. */
const groupsOf = (reports: readonly Report[]): Group[] =>
  reports
    .map(({ title, rows }) => ({
      title,
      rows: rows.filter((row): row is LimitRow => row.ratio !== undefined && row.goal?.startsWith('≥') === true),
    }))
    .filter(({ rows }) => rows.length > 0)

const goalOf = ({ goal = '' }: Row): number => Number(/[\d.]+/.exec(goal)?.[0])

type Scale = (ratio: number) => number

const drawBar = (row: LimitRow, y: number, scale: Scale, theme: Theme): Svg[] => {
  const { median, min, max } = row.ratio
  const goal = goalOf(row)
  const middle = y - 4
  return [
    text(row.what, { x: 32, y, fill: theme.text }),
    element('rect', {
      x: BARS.left,
      y: middle - BAR / 2,
      width: scale(median) - BARS.left,
      height: BAR,
      fill: theme.svc,
    }),
    element('path', { d: `M${scale(min).toFixed(1)} ${middle}H${scale(max).toFixed(1)}`, stroke: theme.text }),
    element('path', {
      d: `M${scale(goal).toFixed(1)} ${middle - 10}V${middle + 10}`,
      stroke: theme.goal,
      'stroke-width': 3,
    }),
    text(median.toFixed(2), { x: RATIO_X, y, fill: theme.text, 'text-anchor': 'end', 'font-weight': 600 }),
    text(goal.toFixed(2), { x: GOAL_X, y, fill: theme.goal, 'text-anchor': 'end' }),
  ]
}

const drawGrid = (greatest: number, bottom: number, scale: Scale, theme: Theme): Svg[] =>
  Array.from({ length: Math.round(greatest / GRID_STEP) + 1 }, (_, index) => index * GRID_STEP).flatMap((ratio) => [
    element('path', {
      d: `M${scale(ratio).toFixed(1)} ${TOP - 14}V${bottom}`,
      stroke: ratio === 1 ? theme.text : theme.grid,
      'stroke-width': ratio === 1 ? 2 : 1,
    }),
    text(ratio === 1 ? 'limit' : String(ratio), {
      x: scale(ratio),
      y: TOP - 20,
      fill: ratio === 1 ? theme.text : theme.muted,
      'text-anchor': 'middle',
      'font-size': 12,
    }),
  ])

const drawLegend = ({ text: ink, muted, goal }: Theme): Svg[] => [
  text('Rates, as shares of the limit', { x: 16, y: 24, fill: ink, 'font-size': 16, 'font-weight': 600 }),
  text('Limit = 1. Thin lines: least and greatest round.', { x: 16, y: 44, fill: muted, 'font-size': 12 }),
  text('ratio', { x: RATIO_X, y: TOP - 20, fill: ink, 'text-anchor': 'end', 'font-size': 12 }),
  text('❙ goal', { x: GOAL_X, y: TOP - 20, fill: goal, 'text-anchor': 'end', 'font-size': 12 }),
]

/** Draws a bar for each ratio with a goal. */
export const drawLimits = (reports: readonly Report[], theme: Theme): string => {
  const groups = groupsOf(reports)
  const all = groups.flatMap(({ rows }) => rows)
  const greatest = Math.ceil(Math.max(1, ...all.map(({ ratio }) => ratio.max)) / GRID_STEP) * GRID_STEP
  const scale: Scale = (ratio) => BARS.left + (ratio / greatest) * (BARS.right - BARS.left)
  const lines = groups.flatMap((group) => [group.title, ...group.rows])
  const bottom = TOP + lines.length * LINE
  const drawn = lines.flatMap((line, index) => {
    const y = TOP + index * LINE + 14
    if (typeof line !== 'string') return drawBar(line, y, scale, theme)
    return [text(line, { x: 16, y, fill: theme.muted, 'font-weight': 600 })]
  })
  return picture({
    width: WIDTH,
    height: bottom + 16,
    title: 'Rates of svc, as shares of the limit',
    description: all
      .map((row) => `${row.what}: ${row.ratio.median.toFixed(2)}, goal ${goalOf(row).toFixed(2)}.`)
      .join(' '),
    parts: [
      element('rect', { width: WIDTH, height: bottom + 16, fill: theme.background }),
      ...drawLegend(theme),
      ...drawGrid(greatest, bottom, scale, theme),
      ...drawn,
    ],
  })
}
