// RULE: what a customer would gain and lose if the desired rows replaced the stored ones: what an operator is shown
// before it happens, what the drift budget counts, what a hold of revocations stops.
import { isHeld } from './diff.ts'
import type { Entitlement, FeatureValue } from './model.ts'

export type Shift = { feature: string; before: FeatureValue | null; after: FeatureValue | null }

/** Features by what happens to them; one that changes its text value (the plan's name) is in neither `gains` nor `losses`. */
export type Outlook = { gains: Shift[]; losses: Shift[]; renamed: Shift[] }

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
    const shift = { feature, before: before.get(feature) ?? null, after: after.get(feature) ?? null }
    const way = wayOf(shift)
    if (way !== null) outlook[way].push(shift)
  }
  return outlook
}

/** Items whose stored rows would have to stay so that nothing is lost. */
export const itemsLosing = (
  current: readonly Entitlement[],
  desired: readonly Entitlement[],
  held: readonly string[],
): string[] => {
  const lost = new Set(outlookOf(current, desired, held).losses.map(({ feature }) => feature))
  return [
    ...new Set(current.filter((row) => row.granted && lost.has(row.feature)).map(({ itemId }) => itemId)),
  ]
}

const gives = (value: FeatureValue | null) => value !== null && value !== false

const wayOf = ({ before, after }: Shift): keyof Outlook | null => {
  if (before === after) return null
  const [had, has] = [gives(before), gives(after)]
  if (!had || !has) return had === has ? null : has ? 'gains' : 'losses'
  if (typeof before === 'number' && typeof after === 'number') return after > before ? 'gains' : 'losses'
  return 'renamed'
}

// Seats of several items add up; of texts the highest rank speaks. Close enough to tell more from less.
const givenBy = (rows: readonly Entitlement[]): Map<string, FeatureValue> => {
  const given = new Map<string, { value: FeatureValue; rank: number }>()
  for (const { feature, value, rank, granted } of rows) {
    if (!granted) continue
    const other = given.get(feature)
    if (other === undefined) given.set(feature, { value, rank })
    else given.set(feature, { value: joined(other, { value, rank }), rank: Math.max(rank, other.rank) })
  }
  return new Map([...given].map(([feature, { value }]) => [feature, value]))
}

type Ranked = { value: FeatureValue; rank: number }
const joined = (a: Ranked, b: Ranked): FeatureValue => {
  if (typeof a.value === 'number' && typeof b.value === 'number') return a.value + b.value
  if (typeof a.value === 'boolean' && typeof b.value === 'boolean') return a.value || b.value
  return b.rank > a.rank ? b.value : a.value
}
