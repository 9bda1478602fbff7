// The one place where API versions matter. Wire objects are built for the newest version and carry, under
// `_legacy`, what older versions say in addition; `render` keeps or drops that, and drops from old versions
// what is new.
// Eras: `legacy` up to 2024-11-20; `both` 2024-12-18 and acacia; `item` from 2025-03-31 (basil).

export type Era = 'legacy' | 'both' | 'item'

export const eraOf = (version: string): Era => {
  const date = version.slice(0, 10)
  return date <= '2024-11-20' ? 'legacy' : date < '2025-03-31' ? 'both' : 'item'
}

export const render = <T extends object>(object: T, version: string): T => walk(object, eraOf(version)) as T

// Keys that versions before basil did not know.
const MODERN_KEYS: Record<string, readonly string[]> = {
  subscription: [
    'billing_mode',
    'billing_schedules',
    'managed_payments',
    'status_details',
    'customer_account',
  ],
  subscription_item: ['current_trial'],
  invoice: ['amount_overpaid', 'customer_account', 'total_taxes', 'payments'],
  line_item: ['taxes', 'subtotal', 'quantity_decimal'],
}
// Keys that only the both-era shares with the item era.
const MODERN_IN_BOTH: Record<string, readonly string[]> = {
  subscription_item: ['current_period_start', 'current_period_end'],
  invoice: ['parent'],
  line_item: ['parent', 'pricing'],
}

const walk = (value: unknown, era: Era): unknown => {
  if (Array.isArray(value)) return value.map((entry) => walk(entry, era))
  if (value === null || typeof value !== 'object') return value
  const kind = 'object' in value && typeof value.object === 'string' ? value.object : ''
  const dropped = droppedKeys(kind, era)
  const result: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(value)) {
    if (key !== '_legacy' && !dropped.includes(key) && entry !== undefined) result[key] = walk(entry, era)
  }
  const legacy = '_legacy' in value && era !== 'item' ? walk(value._legacy, era) : {}
  return Object.assign(result, legacy)
}

const NONE: readonly string[] = []

const droppedKeys = (kind: string, era: Era): readonly string[] => {
  if (era === 'item') return NONE
  const always = MODERN_KEYS[kind] ?? NONE
  return era === 'both' ? always : [...always, ...(MODERN_IN_BOTH[kind] ?? NONE)]
}

// Stripe's `previous_attributes`: changed keys only, nested for hashes, whole arrays. Null when nothing
// changed.
export const previousAttributes = (before: object, after: object): Record<string, unknown> | null => {
  const result: Record<string, unknown> = {}
  const old = before as Record<string, unknown>
  const fresh = after as Record<string, unknown>
  for (const key of new Set([...Object.keys(old), ...Object.keys(fresh)])) {
    if (old[key] === fresh[key] || JSON.stringify(old[key]) === JSON.stringify(fresh[key])) continue
    const nested = isHash(old[key]) && isHash(fresh[key]) ? previousAttributes(old[key], fresh[key]) : null
    result[key] = nested ?? old[key] ?? null
  }
  return Object.keys(result).length === 0 ? null : result
}

const isHash = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
