import type { Value } from '../../storage/database.ts'

/** Part of a `WHERE`. */
export type Condition = [sql: string, ...values: Value[]]

/** So that few statements are prepared, a list has one of these lengths; its last value is repeated. */
const LENGTHS = [1, 10, 100] as const

/** How many values a list may have. */
export const MAX_LIST = 100

/** A condition for one to `MAX_LIST` values. */
export const inList = (column: string, values: readonly string[]): Condition => {
  const length = LENGTHS.find((each) => each >= values.length) ?? values.length
  const padded = Array.from({ length }, (_, index) => values[index] ?? values.at(-1) ?? '')
  return [`${column} IN (${padded.map(() => '?').join(', ')})`, ...padded]
}
