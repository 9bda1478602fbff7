// Small builders for the specs of the rules: ordinary values, overridden by what a spec is about.
import { parseCatalog } from '../../src/entitlements/catalog.ts'
import type { Catalog } from '../../src/entitlements/catalog.ts'
import { decide } from '../../src/entitlements/decide.ts'
import type { Question } from '../../src/entitlements/decide.ts'
import type {
  Decision,
  Entitlement,
  Invoice,
  Item,
  Snapshot,
  Subscription,
} from '../../src/entitlements/model.ts'
import { readSubscription } from '../../src/entitlements/snapshot.ts'
import type { Reading } from '../../src/entitlements/snapshot.ts'
import { DAY_MS } from '../../src/time.ts'

export const NOON = Date.UTC(2026, 5, 15, 12)
export const inDays = (days: number) => NOON + days * DAY_MS
export const secondsOf = (at: number) => at / 1_000

export const anItem = (given: Partial<Item> = {}): Item => ({
  id: 'si_A',
  priceId: 'price_pro',
  lookupKey: null,
  productId: 'prod_x',
  quantity: 1,
  metered: false,
  periodStart: inDays(-10),
  periodEnd: inDays(20),
  ...given,
})

export const aSubscription = (given: Partial<Subscription> = {}): Subscription => ({
  id: 'sub_A',
  customerId: 'cus_A',
  status: 'active',
  startedAt: inDays(-100),
  cancelAt: null,
  cancelAtPeriodEnd: false,
  canceledAt: null,
  endedAt: null,
  trialEnd: null,
  pause: null,
  statusDetail: null,
  collection: 'charge_automatically',
  tenantId: null,
  items: [anItem()],
  unpaid: null,
  pausedUntil: null,
  ...given,
})

export const anInvoice = (given: Partial<Invoice> = {}): Invoice => ({
  id: 'in_A',
  customerId: 'cus_A',
  subscriptionId: 'sub_A',
  status: 'open',
  amountDue: 2000,
  amountPaid: 0,
  amountRemaining: 2000,
  currency: 'usd',
  collection: 'charge_automatically',
  billingReason: 'subscription_cycle',
  createdAt: inDays(-3),
  dueAt: null,
  finalizedAt: inDays(-3),
  ...given,
})

export const aSnapshot = (given: Partial<Snapshot> = {}): Snapshot => ({
  customerId: 'cus_A',
  deleted: false,
  tenantId: null,
  clockAt: null,
  subscriptions: [aSubscription()],
  ...given,
})

/** The catalog file of rules.md, section 10, with an add-on. */
export const CATALOG_FILE = {
  default: 'free',
  graceDays: 7,
  subscriptions: 'union',
  plans: {
    free: { rank: 0, features: {} },
    basic: { rank: 10, prices: ['price_basic'], features: { export: true } },
    pro: {
      rank: 20,
      prices: ['price_pro', 'lookup:pro_yearly', 'product:prod_pro'],
      features: { export: true, sso: true, seats: { from: 'quantity' } },
    },
    storage: { rank: 5, addon: true, prices: ['price_storage'], features: { gigabytes: 100 } },
  },
}

export const aCatalog = (given: Record<string, unknown> = {}): Catalog => {
  const parsed = parseCatalog(JSON.stringify({ ...CATALOG_FILE, ...given }))
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.join('\n'))
  return parsed.catalog
}

/** The decision about a snapshot at noon, in live mode. */
export const decideAt = (given: Partial<Question> = {}): Decision =>
  decide({ snapshot: aSnapshot(), catalog: aCatalog(), remembered: {}, now: NOON, mode: 'live', ...given })

/** The decision about these subscriptions, which must be made. */
export const decided = (subscriptions: Subscription[], given: Partial<Question> = {}) => {
  const decision = decideAt({ snapshot: aSnapshot({ subscriptions }), ...given })
  if (decision.kind === 'blocked')
    throw new Error(`blocked: ${decision.reason} ${decision.subjects.join(' ')}`)
  return decision
}

/** The `$plan` row of an item; an item without one is a mistake of the spec. */
export const planRow = ({ entitlements }: { entitlements: Entitlement[] }, itemId = 'si_A'): Entitlement => {
  const row = entitlements.find((each) => each.itemId === itemId && each.feature === '$plan')
  if (row === undefined) throw new Error(`${itemId} gives no plan`)
  return row
}

/** The `$plan` row of one subscription alone. */
export const rowOf = (given: Partial<Subscription>, question: Partial<Question> = {}): Entitlement =>
  planRow(decided([aSubscription(given)], question))

export const pastDueSince = (since: number) => ({ status: 'past_due', unpaid: { invoiceId: 'in_A', since } })

/** `item feature=value` of every row that gives access. */
export const granted = ({ entitlements }: { entitlements: Entitlement[] }): string[] =>
  entitlements
    .filter((row) => row.granted)
    .map(({ itemId, feature, value }) => `${itemId} ${feature}=${value}`)

// Stripe's JSON, as a current API version renders it.

export const aRawItem = (given: Record<string, unknown> = {}) => ({
  id: 'si_A',
  object: 'subscription_item',
  price: {
    id: 'price_pro',
    object: 'price',
    lookup_key: 'pro',
    product: 'prod_pro',
    recurring: { usage_type: 'licensed' },
  },
  quantity: 3,
  current_period_start: secondsOf(inDays(-10)),
  current_period_end: secondsOf(inDays(20)),
  ...given,
})

export const aRawSubscription = (given: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: 'sub_A',
  object: 'subscription',
  customer: 'cus_A',
  status: 'active',
  created: secondsOf(inDays(-90)),
  start_date: secondsOf(inDays(-100)),
  cancel_at: null,
  cancel_at_period_end: false,
  canceled_at: null,
  ended_at: null,
  trial_end: null,
  pause_collection: null,
  collection_method: 'charge_automatically',
  metadata: {},
  items: { object: 'list', data: [aRawItem()], has_more: false },
  ...given,
})

/** As rendered until 2015: no items, no start_date, no cancel_at, no pause. */
export const aRawSubscriptionOf2012 = (given: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: 'sub_A',
  object: 'subscription',
  customer: 'cus_A',
  status: 'active',
  start: secondsOf(inDays(-100)),
  plan: { id: 'gold', object: 'plan', interval: 'month' },
  quantity: 3,
  cancel_at_period_end: false,
  canceled_at: null,
  ended_at: null,
  trial_end: null,
  current_period_start: secondsOf(inDays(-10)),
  current_period_end: secondsOf(inDays(20)),
  ...given,
})

export const aRawInvoice = (given: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: 'in_A',
  object: 'invoice',
  customer: 'cus_A',
  status: 'open',
  amount_due: 2000,
  amount_paid: 500,
  amount_remaining: 1500,
  currency: 'usd',
  collection_method: 'charge_automatically',
  billing_reason: 'subscription_cycle',
  created: secondsOf(inDays(-3)),
  due_date: null,
  status_transitions: { finalized_at: secondsOf(inDays(-2)) },
  parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_A' } },
  ...given,
})

/** What was read; an object that could not be is a mistake of the spec. */
export const valueOf = <T>(reading: Reading<T>): T => {
  if (reading.kind === 'unrecognized') throw new Error(reading.why)
  return reading.value
}

export const whyOf = (reading: Reading<unknown>) => (reading.kind === 'unrecognized' ? reading.why : null)

export const subscriptionOf = (given: Record<string, unknown> = {}): Subscription =>
  valueOf(readSubscription(aRawSubscription(given)))

export const itemsOf = (...data: unknown[]) => ({ items: { object: 'list', data, has_more: false } })
