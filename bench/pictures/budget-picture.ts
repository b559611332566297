// Where the microseconds of a request go, beside those of bare node:http.
import { type Budget, type RequestBudget, totalOf } from '../budget/budget.ts'
import { CATEGORIES, type Category } from '../budget/categories.ts'
import { element, picture, type Svg, text } from './svg.ts'
import type { Theme } from './theme.ts'

const WIDTH = 800
const LABELS = 262
const COLUMN = 176
/** The longest bar; the figure stands to the right of it. */
const LONGEST = 112
const TOP = 112
const LINE = 30

const figure = (us: number): string => us.toFixed(1)

interface Cell {
  x: number
  y: number
  svc: number
  bare: number
  /** Microseconds for each pixel. */
  usPerPixel: number
}

const drawCell = ({ x, y, svc, bare, usPerPixel }: Cell, theme: Theme): Svg[] => [
  element('rect', { x, y: y - 11, width: svc / usPerPixel, height: 10, fill: theme.svc }),
  element('rect', { x, y, width: bare / usPerPixel, height: 5, fill: theme.bare }),
  ...(svc < 0.05
    ? []
    : [
        text(figure(svc), { x: x + Math.max(svc, bare) / usPerPixel + 5, y: y - 1, fill: theme.text, 'font-size': 12 }),
      ]),
]

const drawColumn = ({ what, svc, bare }: RequestBudget, x: number, bottom: number, theme: Theme): Svg[] => [
  text(what, { x, y: 72, fill: theme.text, 'font-weight': 600 }),
  text(`${figure(totalOf(svc))} µs`, { x, y: 90, fill: theme.text, 'font-size': 12 }),
  text(`bare ${figure(totalOf(bare))}`, { x: x + 62, y: 90, fill: theme.muted, 'font-size': 12 }),
  element('path', { d: `M${x - 0.5} ${TOP - 14}V${bottom}`, stroke: theme.grid }),
]

const drawLegend = (theme: Theme): Svg[] => [
  text('Where the microseconds of a request go', {
    x: 16,
    y: 24,
    fill: theme.text,
    'font-size': 16,
    'font-weight': 600,
  }),
  element('rect', { x: 16, y: 36, width: 16, height: 10, fill: theme.svc }),
  text('svc', { x: 38, y: 46, fill: theme.text, 'font-size': 12 }),
  element('rect', { x: 72, y: 41, width: 16, height: 5, fill: theme.bare }),
  text('bare node:http with the same response; one scale for all columns', {
    x: 94,
    y: 46,
    fill: theme.muted,
    'font-size': 12,
  }),
]

const usOf = (budget: Budget, category: Category): number => budget[category] ?? 0

const columnX = (index: number): number => LABELS + index * COLUMN

/** Draws a column for each kind of request, and a line for each category. */
export const drawBudgets = (budgets: readonly RequestBudget[], theme: Theme): string => {
  const used = CATEGORIES.filter((category) => budgets.some(({ svc }) => usOf(svc, category) >= 0.05))
  const greatest = Math.max(...budgets.flatMap(({ svc, bare }) => [...Object.values(svc), ...Object.values(bare)]))
  const bottom = TOP + used.length * LINE - 8
  const lines = used.flatMap((category, line) => {
    const y = TOP + line * LINE
    const cells = budgets.map(({ svc, bare }, index) =>
      drawCell(
        { x: columnX(index), y, svc: usOf(svc, category), bare: usOf(bare, category), usPerPixel: greatest / LONGEST },
        theme,
      ),
    )
    return [text(category, { x: 16, y, fill: theme.text }), ...cells.flat()]
  })
  return picture({
    width: WIDTH,
    height: bottom + 16,
    title: 'Where the microseconds of a request go',
    description: budgets
      .map(({ what, svc, bare }) => {
        const parts = used.map((category) => `${category} ${figure(usOf(svc, category))}`).join(', ')
        return `${what}: ${figure(totalOf(svc))} µs, bare node:http ${figure(totalOf(bare))}: ${parts}.`
      })
      .join(' '),
    parts: [
      element('rect', { width: WIDTH, height: bottom + 16, fill: theme.background }),
      ...drawLegend(theme),
      ...budgets.flatMap((budget, index) => drawColumn(budget, columnX(index), bottom, theme)),
      ...lines,
    ],
  })
}
