// What a tenant may use, computed from the simulator's state by code that shares nothing with src/: the
// second opinion for convergence tests. Written from rules.md 2, 5, 6 and 10, for live mode after everything
// has settled.

import { fixedFeatures, mergedFeatures, rankOf } from './oracle-merge.ts'
import type { Features, Grant, Judged, OracleCatalog, OracleState } from './oracle-merge.ts'
import type { Shop } from './shop.ts'
import type { InvoiceState, ItemState, PriceState, SubState } from './records.ts'
import { ownedBy } from './state.ts'
import type { World } from './world.ts'

// Interpretations, where the rules leave room:
// * conflicting links: the one stated first at Stripe wins (tests that shuffle should avoid conflicts);
// * `quarantine`: of several competing subscriptions (active, trialing, past_due, not over by a scheduled
//   end) the oldest counts, the others do not exist until it ends; unpaid, paused and incomplete never
//   compete and grant nothing;
// * an allowing subscription without any mapped price does not exist ("what is held stays" is not modelled);
// * `pausedCollection.void: suspend` suspends after the end of the last period that a paid invoice covers;
// * recheck ends never lock anyone out: the simulator can always be read again, so nothing is ever stale;
// * `graceAfterTrial` is for a subscription that had a trial and never a paid invoice above zero.

export type { OracleCatalog, OracleState } from './oracle-merge.ts'
export type Expected = {
  plan: string
  active: boolean
  state: OracleState
  features: Features
  seats: number | null
}

const BEST_FIRST: readonly OracleState[] = [
  'active',
  'trial',
  'grace',
  'suspended',
  'pending',
  'ended',
  'none',
]
const DAY = 86_400
const DEFAULT_GRACE_DAYS = 7

/** Several shops: one tenant with a customer in each of several accounts. */
export const expectedEntitlements = (
  shop: Shop | readonly Shop[],
  catalogJson: OracleCatalog | string,
  tenantId: string,
  at: number,
): Expected => {
  const catalog: OracleCatalog =
    typeof catalogJson === 'string' ? (JSON.parse(catalogJson) as OracleCatalog) : catalogJson
  const shops = Array.isArray(shop) ? (shop as readonly Shop[]) : [shop as Shop]
  const customers = shops.flatMap(({ world }) => {
    const customer = linkedCustomer(world, tenantId)
    return customer === null ? [] : [judgeCustomer(world, catalog, customer, at / 1000)]
  })
  const judged = customers.flat()
  const state = BEST_FIRST.find((each) => judged.some((sub) => sub.state === each)) ?? 'none'
  const plans = judged.flatMap((sub) => sub.grants.map((grant) => grant.plan))
  const plan = plans.toSorted((a, b) => rankOf(catalog, b) - rankOf(catalog, a))[0] ?? catalog.default
  const features =
    plans.length === 0 ? fixedFeatures(catalog, catalog.default) : mergedFeatures(catalog, customers)
  const seats = features['seats']
  return {
    plan,
    active: plans.some((each) => each !== catalog.default),
    state,
    features,
    seats: typeof seats === 'number' ? seats : null,
  }
}

const linkedCustomer = (world: World, tenantId: string): string | null => {
  const tenantOf = new Map<string, string>()
  const customerOf = new Map<string, string>()
  for (const { customer, tenant } of world.evidence) {
    if (tenantOf.has(customer) || customerOf.has(tenant)) continue
    tenantOf.set(customer, tenant)
    customerOf.set(tenant, customer)
  }
  return customerOf.get(tenantId) ?? null
}

const judgeCustomer = (world: World, catalog: OracleCatalog, customer: string, at: number): Judged[] => {
  // A customer on a test clock lives in that clock's time.
  const onClock = (world.store.customer.get(customer)?.testClock ?? null) !== null
  const now = onClock ? world.now(customer) : at
  const subs = ownedBy(world.store, customer, 'subscription')
  if (world.store.customer.get(customer)?.deleted === true)
    return subs.map(() => ({ state: 'ended', grants: [] }))
  const judged = subs
    .map((sub) => ({ sub, ...judgeSubscription(world, catalog, sub, now) }))
    .filter(({ grants, allows }) => !allows || grants.length > 0)
  if (catalog.subscriptions === 'union') return judged.map(({ state, grants }) => ({ state, grants }))
  const holder = judged.find(({ sub, state }) => competes(sub) && state !== 'ended')
  return judged
    .filter(({ sub, state }) => sub === holder?.sub || !competes(sub) || state === 'ended')
    .map(({ sub, state, grants }) => ({
      state,
      grants: sub === holder?.sub || holder === undefined ? grants : [],
    }))
}

const competes = (sub: SubState): boolean =>
  sub.status === 'active' || sub.status === 'trialing' || sub.status === 'past_due'

const judgeSubscription = (
  world: World,
  catalog: OracleCatalog,
  sub: SubState,
  now: number,
): Judged & { allows: boolean } => {
  const [state, allows] = stateOf(world, catalog, sub, now)
  const grants = sub.items.flatMap((item): Grant[] => {
    const price = world.store.price.get(item.price)
    const plan = price === undefined ? null : planOf(catalog, price)
    return plan === null ? [] : [{ plan, quantity: quantityOf(price, item) }]
  })
  return { state, allows, grants: allows ? grants : [] }
}

const quantityOf = (price: PriceState | undefined, item: ItemState): number | null =>
  price?.usageType === 'metered' ? null : item.quantity

const stateOf = (
  world: World,
  catalog: OracleCatalog,
  sub: SubState,
  now: number,
): [state: OracleState, allows: boolean] => {
  switch (sub.status) {
    case 'canceled':
      return ['ended', false]
    case 'incomplete_expired':
      return ['none', false]
    case 'unpaid':
    case 'paused':
      return ['suspended', false]
    case 'incomplete':
      return ['pending', catalog.pendingFirstPayment === 'allow']
    case 'trialing':
    case 'active':
    case 'past_due':
      break
  }
  const periodEnds = sub.items.map((item) => item.periodEnd)
  const end = sub.cancelAt ?? (sub.cancelAtPeriodEnd ? Math.min(...periodEnds) : null)
  if (end !== null && now >= end) return ['ended', false]
  if (sub.pause?.behavior === 'void' && catalog.pausedCollection?.void === 'suspend') {
    if (now >= paidThrough(world, sub)) return ['suspended', false]
  }
  if (sub.status === 'trialing') return ['trial', true]
  if (sub.status === 'active') return ['active', true]
  return now < graceEnd(world, catalog, sub, now) ? ['grace', true] : ['suspended', false]
}

const invoicesOf = (world: World, sub: SubState): InvoiceState[] =>
  ownedBy(world.store, sub.customer, 'invoice').filter((invoice) => invoice.subscription === sub.id)

const paidThrough = (world: World, sub: SubState): number => {
  const paid = invoicesOf(world, sub).filter((invoice) => invoice.status === 'paid')
  const ends = paid.flatMap((invoice) => invoice.lines.map((line) => line.end))
  return ends.length === 0 ? Math.min(...sub.items.map((item) => item.periodEnd)) : Math.max(...ends)
}

const graceEnd = (world: World, catalog: OracleCatalog, sub: SubState, now: number): number => {
  const invoices = invoicesOf(world, sub)
  const owedSince = invoices
    .filter((invoice) => invoice.status === 'open' && invoice.amount > invoice.amountPaid)
    .map((invoice) => (invoice.collection === 'send_invoice' ? invoice.dueDate : invoice.finalizedAt))
    .filter((since): since is number => since !== null && since <= now)
  const since = owedSince.length > 0 ? Math.min(...owedSince) : (sub.pastDueSince ?? now)
  const everPaid = invoices.some((invoice) => invoice.status === 'paid' && invoice.amountPaid > 0)
  const ordinary = catalog.graceDays ?? DEFAULT_GRACE_DAYS
  const days = sub.trialStart !== null && !everPaid ? (catalog.graceAfterTrial ?? ordinary) : ordinary
  return since + days * DAY
}

// The price's id, then a lookup key it had when it was first mapped, then the one it has, then its product.
const planOf = (catalog: OracleCatalog, price: PriceState): string | null => {
  if (catalog.ignoredPrices?.includes(price.id) === true) return null
  const keys = [...price.formerLookupKeys, price.lookupKey].filter((key) => key !== null)
  const names = [price.id, ...keys.map((key) => `lookup:${key}`), `product:${price.product}`]
  for (const name of names) {
    for (const [plan, { prices = [] }] of Object.entries(catalog.plans))
      if (prices.includes(name)) return plan
  }
  return null
}
