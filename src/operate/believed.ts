// RULE: what was believed of a tenant at a time, from the history of its entitlements, the grants in force and the
// catalog of then. Time counts as it did then: an end that had passed had passed.
import type { Catalog } from '../entitlements/catalog.ts'
import type { FeatureValue } from '../entitlements/model.ts'
import { toIso, type Instant } from '../time.ts'
import type { Link, Why, WhyOverride } from './why-facts.ts'

type Row = {
  account: string
  customer_id: string
  item_id: string
  feature: string
  /** The row as it was written; null where it had been removed. */
  after: Record<string, unknown> | null
  recorded_at: Instant
  cause: string
}

export type Believed = {
  tenant: string
  feature: string
  at: Instant
  rows: readonly Row[]
  overrides: readonly WhyOverride[]
  catalog: { hash: string; catalog: Catalog } | null
}

/** The verdict of then, with its evidence. */
export const believedAt = ({ tenant, feature, at, rows, overrides, catalog }: Believed): Why => {
  const links = rows.filter((row) => row.feature === feature).map((row) => linkOf(row, at))
  const [override] = overrides
  const granted = rows.filter((row) => row.feature === feature && givesAt(row, at))
  const anyPlan = rows.some((row) => row.feature === '$plan' && givesAt(row, at))
  const fallback = anyPlan ? undefined : catalog?.catalog.plans[catalog.catalog.default]?.features[feature]
  const value =
    override === undefined
      ? (mergedOf(granted) ?? (typeof fallback === 'object' ? null : (fallback ?? null)))
      : override.value
  const allowed = value !== null && value !== false
  const chain: Link[] = [
    ...overrides.map((each) => ({
      link: 'override',
      ok: each.effect === 'allow',
      says: `${each.operator} had ${each.effect === 'allow' ? 'granted' : 'denied'} it (grant ${each.id}): ${each.reason}`,
    })),
    ...(links.length > 0
      ? links
      : [{ link: 'access', ok: false, says: `Nothing of ${tenant} had given ${feature} by then.` }]),
    {
      link: 'catalog',
      ok: catalog === null ? false : null,
      says:
        catalog === null
          ? 'No catalog had been loaded.'
          : `Catalog ${catalog.hash.slice(0, 12)} was in force.`,
    },
  ]
  const first = allowed ? null : (chain.find(({ ok }) => ok === false) ?? null)
  const sentence = `At ${toIso(at)} it was believed that ${tenant} ${allowed ? 'might' : 'might not'} use ${feature}${
    allowed && value !== true ? ` (${String(value)})` : ''
  }.`
  return { tenant, feature, allowed, value: allowed ? value : null, sentence, first, chain }
}

const givesAt = ({ after }: Row, at: Instant): boolean => {
  if (after === null || after['granted'] !== true) return false
  const from = instantOf(after['from_at'])
  const final = instantOf(after['final_at'])
  return (from === null || from <= at) && (final === null || at < final)
}

const linkOf = (row: Row, at: Instant): Link => {
  const told = row.after
  const how = `as recorded ${toIso(row.recorded_at)} by ${row.cause}`
  if (told === null)
    return { link: 'access', ok: false, says: `${row.item_id} had stopped giving it, ${how}.` }
  const ok = givesAt(row, at)
  const recheck = instantOf(told['recheck_at'])
  const stale = ok && recheck !== null && recheck <= at ? ', past its end and not read since (stale)' : ''
  const gave = ok ? `gave it (${String(told['value'])})` : 'did not give it'
  return {
    link: 'access',
    ok,
    says: `${String(told['plan'])} of ${String(told['subscription_id'])} ${gave}: ${String(told['state'])}${stale}, ${how}.`,
  }
}

const mergedOf = (rows: readonly Row[]): FeatureValue | null => {
  const values = rows.map(({ after }) => after?.['value'])
  const numbers = values.filter((value) => typeof value === 'number')
  if (numbers.length > 0) return numbers.reduce((sum, value) => sum + value, 0)
  if (values.includes(true)) return true
  const text = values.find((value) => typeof value === 'string')
  return text ?? (values.includes(false) ? false : null)
}

const instantOf = (iso: unknown): Instant | null => (typeof iso === 'string' ? Date.parse(iso) : null)
