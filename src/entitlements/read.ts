// The answer to "what may this tenant use now?", as callers get it. Time is applied by the views: this must never
// keep an answer, nor ask Stripe.
import type { Queries } from '../postgres/pool.ts'
import { toIso, type Instant } from '../time.ts'
import type { FeatureValue } from './model.ts'
import { findTenant, findVersion, type FeatureRow } from './read-queries.ts'

export type TenantVersion = { revision: number; lastTransition: Instant | null }

export type ReadFeature = {
  value: FeatureValue
  state: FeatureRow['state']
  source: FeatureRow['source']
  /** ISO times; `until` null where no end is known. */
  from: string | null
  until: string | null
  /** `final`: it ends then. `recheck`: paid through, Stripe is read again then. `stale`: past that, borne; `held`: kept. */
  until_kind: FeatureRow['until_kind']
  /** Each source that grants it, the highest rank first. */
  because: FeatureRow['because']
}

export type ReadTenant = {
  tenant: string
  /** Null only where no catalog was ever loaded. */
  plan: string | null
  active: boolean
  state: NonNullable<Awaited<ReturnType<typeof findTenant>>>['state']
  features: Record<string, ReadFeature>
  seats: number | null
  as_of: string | null
  stale: boolean
  /** An operator keeps everybody's access until then, whatever ends; null where nobody does. */
  revocations_held_until: string | null
  revision: number
}

/** Which answer a tenant has now, without making it; null where the tenant is unknown. */
export const readTenantVersion = async (db: Queries, tenantId: string): Promise<TenantVersion | null> => {
  const row = await findVersion(db, tenantId)
  return row === null ? null : { revision: row.revision, lastTransition: row.last_transition }
}

/** What a tenant may use now; null where the tenant is unknown. */
export const readTenant = async (db: Queries, tenantId: string): Promise<ReadTenant | null> => {
  const row = await findTenant(db, tenantId)
  if (row === null) return null
  const seats = row.features['seats']?.value
  return {
    tenant: row.tenant_id,
    plan: row.plan,
    active: row.active,
    state: row.state,
    features: Object.fromEntries(
      Object.entries(row.features).map(([name, feature]) => [name, shown(feature)]),
    ),
    seats: typeof seats === 'number' ? seats : null,
    as_of: toIso(row.as_of),
    stale: row.stale || Object.values(row.features).some(({ stale }) => stale),
    revocations_held_until: toIso(row.revocations_held_until),
    revision: row.revision,
  }
}

const shown = (feature: FeatureRow): ReadFeature => ({
  value: feature.value,
  state: feature.state,
  source: feature.source,
  from: toIso(feature.from),
  until: toIso(feature.until),
  until_kind: feature.until_kind,
  because: feature.because,
})

/**
 * Names an answer: it changes with the revision, and when time by itself changed something. Weak, because `as_of`
 * goes on with each read of Stripe that changes nothing. Take it before the answer: an older name costs a read, a
 * newer one would hide a change.
 */
export const etagOf = ({ revision, lastTransition }: TenantVersion): string =>
  `W/"${revision}.${lastTransition ?? 0}"`
