/**
 * Counts insertions, deletions, replacements and swaps of neighbours between two texts (restricted Damerau distance).
 */
const editDistance = (from: string, to: string): number => {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1)
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : replaced
      current.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1))
    }
  }
  return at(from.length, to.length)
}

const MAX_DISTANCE = 3

/** Finds the candidate closest to a misspelt text; returns undefined if more than every fourth character differs. */
export const findClosest = (text: string, candidates: readonly string[]): string | undefined => {
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(text, candidate) }))
    .sort((a, b) => a.distance - b.distance)
  const allowed = Math.min(MAX_DISTANCE, Math.max(1, Math.floor(text.length / 4)))
  return best && best.distance <= allowed ? best.candidate : undefined
}
