// SQL of the read API. It reads views that apply time themselves, and must never write.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from '../postgres/pool.ts'
import { ACCESS_STATES } from './model.ts'

const at = z.number().nullable()

const versionRow = sql.type(z.strictObject({ revision: z.number(), last_transition: at }))

/** What identifies the present answer for a tenant; null where the tenant is unknown. */
export const findVersion = (db: Queries, tenantId: string) =>
  db.maybeOne(versionRow`
    select revision, goodstanding.last_transition(tenant_id) as last_transition
    from goodstanding.tenants
    where tenant_id = ${tenantId}
  `)

const value = z.union([z.boolean(), z.number(), z.string()])
const because = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))

const featureRow = z.strictObject({
  value,
  state: z.enum(ACCESS_STATES),
  source: z.enum(['stripe', 'default', 'manual']),
  from: at,
  until: at,
  until_kind: z.enum(['final', 'recheck', 'stale', 'held']).nullable(),
  stale: z.boolean(),
  because: z.array(because),
})
export type FeatureRow = z.infer<typeof featureRow>

const tenantRow = sql.type(
  z.strictObject({
    tenant_id: z.string(),
    plan: z.string().nullable(),
    active: z.boolean(),
    state: z.enum([...ACCESS_STATES, 'none', 'unknown']),
    stale: z.boolean(),
    as_of: at,
    revision: z.number(),
    revocations_held_until: at,
    features: z.record(z.string(), featureRow),
  }),
)

/** Plan and features of a tenant in one statement, so that they are of one state; null where it is unknown. */
export const findTenant = (db: Queries, tenantId: string) =>
  db.maybeOne(tenantRow`
    select plan.tenant_id, plan.plan, plan.active, plan.state, plan.stale, plan.as_of, plan.revision,
      (
        select max(held.until_at)
        from goodstanding.revocation_holds held
        where held.ended_at is null
          and held.until_at > goodstanding.clock()
          and (held.account is null or held.account in (
            select customer.account from goodstanding.customers customer where customer.tenant_id = plan.tenant_id
          ))
      ) as revocations_held_until,
      coalesce((
        select jsonb_object_agg(entitlement.feature, jsonb_build_object(
          'value', entitlement.value,
          'state', entitlement.state,
          'source', entitlement.source,
          'from', floor(extract(epoch from entitlement.from_at) * 1000),
          'until', floor(extract(epoch from entitlement.until_at) * 1000),
          'until_kind', entitlement.until_kind,
          'stale', entitlement.stale,
          'because', entitlement.because
        ))
        from goodstanding.effective_entitlements entitlement
        where entitlement.tenant_id = plan.tenant_id
      ), '{}') as features
    from goodstanding.effective_plans plan
    where plan.tenant_id = ${tenantId}
  `)
