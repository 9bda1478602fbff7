// What must be written so that the stored rows become the desired ones, and what changed. It must touch no row of
// what is held, and must find nothing where nothing changed: a second run of the same decision writes nothing.
import type { Entitlement } from './model.ts'

/** An entitlement as loaded from the database. Further columns are allowed and not compared. */
export type StoredEntitlement = Entitlement

export type EntitlementKey = { itemId: string; feature: string }

export type Change = EntitlementKey & {
  change: 'added' | 'changed' | 'removed'
  before: Entitlement | null
  after: Entitlement | null
}

export type Diff = { put: Entitlement[]; remove: EntitlementKey[]; changes: Change[] }

type Both = {
  current: readonly StoredEntitlement[]
  desired: readonly Entitlement[]
  /** Ids of subscriptions or of items whose rows stay as they are. */
  held: readonly string[]
}

/** Rows to insert or overwrite, rows to delete, and the same as history. Rows are known by item and feature. */
export const diff = ({ current, desired, held }: Both): Diff => {
  const free = (row: Entitlement) => !isHeld(row, held)
  const before = new Map(current.filter(free).map((row) => [keyOf(row), row]))
  const after = new Map(desired.filter(free).map((row) => [keyOf(row), row]))
  const puts = [...after].flatMap(([key, row]): Change[] => {
    const { itemId, feature } = row
    const old = before.get(key)
    if (old === undefined) return [{ change: 'added', itemId, feature, before: null, after: row }]
    return same(old, row) ? [] : [{ change: 'changed', itemId, feature, before: old, after: row }]
  })
  const removals = [...before].flatMap(([key, row]): Change[] => {
    const { itemId, feature } = row
    return after.has(key) ? [] : [{ change: 'removed', itemId, feature, before: row, after: null }]
  })
  return {
    put: puts.flatMap((change) => change.after ?? []),
    remove: removals.map(({ itemId, feature }) => ({ itemId, feature })),
    changes: [...puts, ...removals],
  }
}

/** Does the row stay as it is? `held`: ids of subscriptions or items. */
export const isHeld = ({ subscriptionId, itemId }: Entitlement, held: readonly string[]): boolean =>
  held.includes(subscriptionId) || held.includes(itemId)

// Ids may hold anything printable, so no character separates them safely.
const keyOf = ({ itemId, feature }: Entitlement): string => JSON.stringify([itemId, feature])

const COMPARED = [
  'value',
  'subscriptionId',
  'plan',
  'rank',
  'state',
  'granted',
  'from',
  'finalAt',
  'recheckAt',
  'because',
] as const satisfies (keyof Entitlement)[]

const same = (a: Entitlement, b: Entitlement): boolean => COMPARED.every((field) => equal(a[field], b[field]))

/** Deep equality of JSON values; the order of keys is none of it. */
export const equal = (a: unknown, b: unknown): boolean => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => equal(a[key as keyof typeof a], b[key as keyof typeof b]))
  )
}
