// The oracle's catalogue and how it merges what several subscriptions grant. See oracle.ts.

export type OracleFeature = boolean | number | string | { from: 'quantity' }
export type OracleCatalog = {
  default: string
  plans: Record<string, { rank: number; prices?: string[]; features: Record<string, OracleFeature> }>
  features?: Record<string, { merge?: 'sum' | 'max' }>
  subscriptions?: 'union' | 'quarantine'
  graceDays?: number
  graceAfterTrial?: number
  staleGraceHours?: number
  ignoredPrices?: string[]
  pendingFirstPayment?: 'allow'
  pausedCollection?: { void?: 'suspend' }
}
export type OracleState = 'active' | 'trial' | 'grace' | 'suspended' | 'pending' | 'ended' | 'none'
export type Features = Record<string, boolean | number | string>
export type Grant = { plan: string; quantity: number | null }
export type Judged = { state: OracleState; grants: Grant[] }

export const rankOf = (catalog: OracleCatalog, plan: string): number => catalog.plans[plan]?.rank ?? 0

export const fixedFeatures = (catalog: OracleCatalog, plan: string): Features => {
  const all = Object.entries(catalog.plans[plan]?.features ?? {})
  return Object.fromEntries(
    all.filter((entry): entry is [string, boolean | number | string] => typeof entry[1] !== 'object'),
  )
}

// Quantities add up within a subscription; between subscriptions of one customer too, unless the catalog says
// `max`; between customers, and for fixed numbers, the largest counts unless it says `sum`.
export const mergedFeatures = (catalog: OracleCatalog, customers: Judged[][]): Features => {
  const result: Features = {}
  const ranked = customers.flat().flatMap((sub) => sub.grants)
  ranked.sort((a, b) => rankOf(catalog, b.plan) - rankOf(catalog, a.plan))
  for (const { plan } of ranked) {
    for (const [name, value] of Object.entries(catalog.plans[plan]?.features ?? {})) {
      if (name in result) continue
      if (typeof value === 'string') result[name] = value
      else if (typeof value === 'boolean') result[name] = anyTrue(catalog, ranked, name)
      else {
        const total = mergedNumber(catalog, customers, name)
        if (total !== null) result[name] = total
      }
    }
  }
  return result
}

const anyTrue = (catalog: OracleCatalog, grants: Grant[], name: string): boolean =>
  grants.some(({ plan }) => catalog.plans[plan]?.features[name] === true)

const mergedNumber = (catalog: OracleCatalog, customers: Judged[][], name: string): number | null => {
  const rule = catalog.features?.[name]?.merge
  const between = rule ?? 'max'
  const perCustomer = customers.map((subs) => {
    const quantities = subs.map((sub) => sumOf(sub.grants.map((grant) => seatsOf(catalog, grant, name))))
    const fixed = subs.flatMap((sub) => sub.grants.map((grant) => numberOf(catalog, grant, name)))
    return combine('max', [combine(rule ?? 'sum', quantities), combine(between, fixed)])
  })
  return combine(between, perCustomer)
}

const seatsOf = (catalog: OracleCatalog, { plan, quantity }: Grant, name: string): number | null =>
  typeof catalog.plans[plan]?.features[name] === 'object' ? quantity : null

const numberOf = (catalog: OracleCatalog, { plan }: Grant, name: string): number | null => {
  const value = catalog.plans[plan]?.features[name]
  return typeof value === 'number' ? value : null
}

const sumOf = (values: (number | null)[]): number | null => combine('sum', values)

const combine = (how: 'sum' | 'max', values: (number | null)[]): number | null => {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return null
  return how === 'max' ? Math.max(...known) : known.reduce((sum, value) => sum + value, 0)
}
