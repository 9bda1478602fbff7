// RULE: what a customer would gain and lose if the desired rows replaced the stored ones: what an operator is shown
// before it happens, what the drift budget counts, what a hold of revocations stops.
import { isHeld } from './diff.ts'
import type { Entitlement, FeatureValue } from './model.ts'

export type Shift = { feature: string; before: FeatureValue | null; after: FeatureValue | null }

/** Features by what happens to them. A text (the plan's name) of another rank is more or less; of the same it is `renamed`. */
export type Outlook = { gains: Shift[]; losses: Shift[]; renamed: Shift[] }

type Given = { value: FeatureValue; rank: number }

/** Compares what the rows give together, whatever item gives it. `held`: subscriptions or items that stay as they are. */
export const outlookOf = (
  current: readonly Entitlement[],
  desired: readonly Entitlement[],
  held: readonly string[] = [],
): Outlook => {
  const kept = current.filter((row) => isHeld(row, held))
  const before = givenBy(current)
  const after = givenBy([...kept, ...desired.filter((row) => !isHeld(row, held))])
  const outlook: Outlook = { gains: [], losses: [], renamed: [] }
  for (const feature of new Set([...before.keys(), ...after.keys()])) {
    const [had, has] = [before.get(feature) ?? null, after.get(feature) ?? null]
    const way = wayOf(had, has)
    if (way !== null) outlook[way].push({ feature, before: had?.value ?? null, after: has?.value ?? null })
  }
  return outlook
}

/** The stored rows that would have to stay, each as it is, so that nothing is lost. */
export const rowsToKeep = (
  current: readonly Entitlement[],
  desired: readonly Entitlement[],
  held: readonly string[],
): Entitlement[] => {
  const lost = new Set(outlookOf(current, desired, held).losses.map(({ feature }) => feature))
  return current.filter((row) => row.granted && lost.has(row.feature))
}

const wayOf = (before: Given | null, after: Given | null): keyof Outlook | null => {
  const [had, has] = [gives(before), gives(after)]
  if (before === null || after === null || !had || !has) return had === has ? null : has ? 'gains' : 'losses'
  if (before.value === after.value) return null
  const more = moreOf(after) - moreOf(before)
  return more === 0 ? 'renamed' : more > 0 ? 'gains' : 'losses'
}

const gives = (given: Given | null) => given !== null && given.value !== false

const moreOf = ({ value, rank }: Given): number => (typeof value === 'number' ? value : rank)

// Seats of several items add up; of texts the highest rank speaks. Close enough to tell more from less.
const givenBy = (rows: readonly Entitlement[]): Map<string, Given> => {
  const given = new Map<string, Given>()
  for (const { feature, value, rank, granted } of rows) {
    if (!granted) continue
    const other = given.get(feature)
    if (other === undefined) given.set(feature, { value, rank })
    else given.set(feature, { value: joined(other, { value, rank }), rank: Math.max(rank, other.rank) })
  }
  return given
}

const joined = (a: Given, b: Given): FeatureValue => {
  if (typeof a.value === 'number' && typeof b.value === 'number') return a.value + b.value
  if (typeof a.value === 'boolean' && typeof b.value === 'boolean') return a.value || b.value
  return b.rank > a.rank ? b.value : a.value
}
