/** Writes placeholders for rows of values: `(?, ?), (?, ?)`. */
export const rowPlaceholders = (rows: number, columns: number): string => {
  const row = `(${Array.from({ length: columns }, () => '?').join(', ')})`
  return Array.from({ length: rows }, () => row).join(', ')
}

/** More rows in one statement are no faster, and SQLite has a limit of 32,766 values. */
const MAX_ROWS = 256

/**
 * Splits rows into pieces for one statement each. Their lengths are powers of two, so that batches of any size need few
 * different statements, each of which is prepared once.
 */
export const inPieces = <T>(rows: readonly T[]): T[][] => {
  const pieces: T[][] = []
  for (let start = 0; start < rows.length; ) {
    const length = Math.min(MAX_ROWS, 2 ** Math.floor(Math.log2(rows.length - start)))
    pieces.push(rows.slice(start, start + length))
    start += length
  }
  return pieces
}

/** Runs a query for each piece of a list of keys, and returns all rows. `list` is `(?, ?, …)`. */
export const findAll = async <Row, Key>(
  keys: readonly Key[],
  find: (list: string, piece: Key[]) => Promise<Row[]>,
): Promise<Row[]> => {
  const found: Row[][] = []
  for (const piece of inPieces(keys)) found.push(await find(rowPlaceholders(1, piece.length), piece))
  return found.flat()
}
