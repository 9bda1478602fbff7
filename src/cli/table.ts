// Rows as text for people: aligned columns, cut nowhere, empty where there is nothing.

export const table = (
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string[] => {
  const all = [head, ...rows].map((row) => row.map((cell) => String(cell ?? '')))
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** A table of what there is, or the sentence that says that there is nothing. */
export const listed = <Row>(
  rows: readonly Row[],
  nothing: string,
  head: readonly string[],
  cells: (row: Row) => readonly (string | number | null)[],
): string[] => (rows.length === 0 ? [nothing] : table(head, rows.map(cells)))

/** "3 h", "2 d": how long ago, roughly. */
export const age = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} d`
}
