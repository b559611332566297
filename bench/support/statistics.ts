export interface Spread {
  median: number
  min: number
  max: number
}

/** The value below which `share` (0 to 1) of the values lie; NaN without values. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Median, minimum and maximum. */
export const spread = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1)
  return {
    median: middle.reduce((sum, value) => sum + value, 0) / middle.length,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  }
}

/** Each value divided by the baseline of the same round. */
export const pairedRatios = (values: readonly number[], baselines: readonly number[]): number[] =>
  values.map((value, round) => value / (baselines[round] ?? Number.NaN))

/**
 * The area under the ROC curve: how often a value of `some` is greater than one of `others`, where a tie counts half.
 * 0.5: the values tell nothing.
 */
export const separability = (some: readonly number[], others: readonly number[]): number => {
  const greater = some.map((one) => others.reduce((sum, other) => sum + (one > other ? 1 : one === other ? 0.5 : 0), 0))
  return greater.reduce((sum, each) => sum + each, 0) / (some.length * others.length)
}
