// `why`: gathers the evidence for one tenant and one feature, now or as it was believed at a time.
import { catalogOf, mapPrice, type Catalog } from '../entitlements/catalog.ts'
import { preview } from '../entitlements/assess.ts'
import type { Outlook } from '../entitlements/outlook.ts'
import { findTenant } from '../entitlements/read-queries.ts'
import { loadMappings } from '../entitlements/queries.ts'
import { loadSubscriptions } from '../entitlements/subscription-queries.ts'
import type { Queries } from '../postgres/pool.ts'
import { readStripeFailure } from '../stripe/failure.ts'
import { BudgetSpent } from '../stripe/budget.ts'
import { listFindings } from './grants-queries.ts'
import { answer, readerOf, refuse, type Answer, type Parts } from './parts.ts'
import { believedAt } from './believed.ts'
import {
  findBelieved,
  findCatalogAt,
  findCustomers,
  findOverrides,
  findSources,
  hasTenant,
  type ShownCustomer,
} from './why-queries.ts'
import type { Why, WhyCustomer, WhyFacts } from './why-facts.ts'
import { explain } from './why.ts'

export type WhyInput = { tenant: string; feature: string; at?: string | undefined; live: boolean }

/** Why the tenant may, or may not, use the feature. */
export const why = async (parts: Parts, input: WhyInput): Promise<Answer<Why>> => {
  if (input.at !== undefined) return whyThen(parts, { ...input, at: input.at })
  const facts = await gather(parts, input)
  return answer(explain(facts))
}

const gather = async (parts: Parts, { tenant, feature, live }: WhyInput): Promise<WhyFacts> => {
  const { known, rows, read, sources, overrides, catalog } = await parts.database.run(async (db) => ({
    known: await hasTenant(db, tenant),
    rows: await findCustomers(db, { whom: tenant }),
    read: await findTenant(db, tenant),
    sources: await findSources(db, { tenant }),
    overrides: await findOverrides(db, { tenant, feature, at: null }),
    catalog: await catalogAt(db, null),
  }))
  const given = read?.features[feature]
  const customers: WhyCustomer[] = []
  for (const row of rows.filter((each) => each.tenant_id === tenant))
    customers.push(await customerOf(parts, row, catalog?.catalog ?? null, live))
  return {
    tenant,
    feature,
    tenantKnown: known,
    verdict: {
      allowed: given !== undefined && given.value !== false,
      value: given?.value ?? null,
      source: given?.source ?? null,
      until: given?.until ?? null,
    },
    customers,
    sources: sources
      .filter((each) => each.feature === feature || each.feature === '$plan')
      .map((each) => ({
        account: each.account,
        customerId: each.customer_id,
        subscriptionId: each.subscription_id,
        feature: each.feature,
        plan: each.plan,
        state: each.state,
        granted: each.granted,
        stale: each.stale,
        held: each.held,
        finalAt: each.final_at,
        recheckAt: each.recheck_at,
        because: each.because,
      })),
    overrides: overrides.map((each) => ({ ...each, id: each.override_id, until: each.until_at })),
    catalog: catalog === null ? null : promisesOf(catalog, feature),
    revocationsHeldUntil: read?.revocations_held_until ?? null,
  }
}

const catalogAt = async (db: Queries, at: string | null) => {
  const row = await findCatalogAt(db, at)
  return row === null ? null : { hash: row.catalog_hash, catalog: catalogOf(row.body) }
}

const promisesOf = ({ hash, catalog }: { hash: string; catalog: Catalog }, feature: string) => ({
  hash,
  defaultPlan: catalog.default,
  plansWith: Object.entries(catalog.plans)
    .filter(([, plan]) => plan.features[feature] !== undefined && plan.features[feature] !== false)
    .map(([name]) => name),
  defaultGives: catalog.plans[catalog.default]?.features[feature] !== undefined,
})

const customerOf = async (
  parts: Parts,
  row: ShownCustomer,
  catalog: Catalog | null,
  live: boolean,
): Promise<WhyCustomer> => {
  const key = { account: row.account, customerId: row.customer_id }
  const { subscriptions, mappings, findings } = await parts.database.run(async (db) => {
    const stored = await loadSubscriptions(db, key)
    const priceIds = stored.flatMap(({ items }) => items.map(({ priceId }) => priceId))
    const subjects = [row.customer_id, ...stored.map(({ id }) => id), ...priceIds]
    return {
      subscriptions: stored,
      mappings: await loadMappings(db, row.account, priceIds),
      findings: await listFindings(db, { account: row.account, subjects, all: false, limit: 20 }),
    }
  })
  return {
    ...key,
    linkedBy: row.linked_by,
    deleted: row.deleted,
    readAt: row.read_at,
    evidenceAt: row.evidence_at,
    accountState: row.account_state,
    subscriptions: subscriptions.map(({ id, status, items }) => ({
      id,
      status,
      items: items.map((item) => {
        const mapping = catalog === null ? null : mapPrice(catalog, mappings, item)
        return {
          priceId: item.priceId,
          plan: mapping?.kind === 'plan' ? mapping.plan : null,
          ignored: mapping?.kind === 'ignored',
        }
      }),
    })),
    newestEvent: row.newest,
    waiting: row.pending,
    dead: row.dead,
    findings: [...new Set(findings.map(({ code }) => code))],
    live: live ? await lookLive(parts, key) : { kind: 'unknown', why: 'nobody asked for it' },
  }
}

/** What Stripe says now, beside what is stored. */
const lookLive = async (
  parts: Parts,
  key: { account: string; customerId: string },
): Promise<WhyCustomer['live']> => {
  const reader = readerOf(parts, key.account)
  if (reader === null) return { kind: 'unknown', why: `no API key of account ${key.account} here` }
  try {
    const seen = await preview(parts, parts.database, { key, reader })
    if (seen.kind === 'blocked')
      return { kind: 'differs', would: `nothing can follow from it (${seen.reason})` }
    if (seen.kind === 'vanished')
      return { kind: 'differs', would: `it does not know ${seen.subscriptionIds.join(', ')}` }
    const { gains, losses, renamed } = seen.outlook
    // Dates alone are no disagreement: each read moves some.
    return gains.length + losses.length + renamed.length > 0
      ? { kind: 'differs', would: toldOf(seen.outlook) }
      : { kind: 'agrees' }
  } catch (error) {
    return { kind: 'unknown', why: unreadable(error) }
  }
}

/** Why Stripe could not be read, in a word; rethrows what is not Stripe's. */
export const unreadable = (error: unknown): string => {
  if (error instanceof BudgetSpent) return 'our budget of calls is spent'
  const failure = readStripeFailure(error)
  if (failure === null) throw error
  return `it answered: ${failure.kind}`
}

/** An outlook in words. */
export const toldOf = ({ gains, losses, renamed }: Outlook): string => {
  const shifts = [
    ...gains.map(({ feature, after }) => `gains ${feature} (${String(after)})`),
    ...losses.map(({ feature, before, after }) =>
      after === null ? `loses ${feature}` : `${feature} falls from ${String(before)} to ${String(after)}`,
    ),
    ...renamed.map(
      ({ feature, before, after }) => `${feature} goes from ${String(before)} to ${String(after)}`,
    ),
  ]
  return shifts.length === 0 ? 'only dates would change' : shifts.join(', ')
}

const whyThen = async (
  parts: Parts,
  { tenant, feature, at }: WhyInput & { at: string },
): Promise<Answer<Why>> => {
  const then = await parts.database.run(async (db) => ({
    known: await hasTenant(db, tenant),
    rows: await findBelieved(db, { tenant, at }),
    overrides: await findOverrides(db, { tenant, feature, at }),
    catalog: await catalogAt(db, at),
  }))
  if (!then.known) return refuse('not_found', `Nobody ever named a tenant ${tenant}.`)
  return answer(
    believedAt({
      tenant,
      feature,
      at: Date.parse(at),
      rows: then.rows,
      overrides: then.overrides.map((each) => ({ ...each, id: each.override_id, until: each.until_at })),
      catalog: then.catalog === null ? null : { ...then.catalog, ...promisesOf(then.catalog, feature) },
    }),
  )
}
