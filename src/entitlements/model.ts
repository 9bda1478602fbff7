// The nouns of entitlements as plain data: what Stripe said (Snapshot), what the catalog promises (Catalog), what
// follows (Decision). Types only, so that rules, SQL and faces can name them without importing one another.
import type { Instant } from '../time.ts'

/** One line of a subscription. `quantity` is null where Stripe sends none (metered). */
export type Item = {
  id: string
  priceId: string
  lookupKey: string | null
  productId: string | null
  quantity: number | null
  metered: boolean
  periodStart: Instant | null
  periodEnd: Instant | null
}

/** What Stripe said of one subscription, in one shape for every API version, plus the two facts that we remember. */
export type Subscription = {
  id: string
  customerId: string
  status: string
  startedAt: Instant | null
  cancelAt: Instant | null
  cancelAtPeriodEnd: boolean
  canceledAt: Instant | null
  endedAt: Instant | null
  trialEnd: Instant | null
  pause: { behavior: string; resumesAt: Instant | null } | null
  statusDetail: string | null
  collection: 'charge_automatically' | 'send_invoice'
  /** `metadata.tenant_id`, set by the host's server. */
  tenantId: string | null
  items: Item[]
  /** Memory: since when money is owed, and for which invoice. Null unless past due. */
  unpaid: { invoiceId: string | null; since: Instant } | null
  /** Memory: the end of the period that was running when collection was first seen paused. */
  pausedUntil: Instant | null
}

export type Invoice = {
  id: string
  customerId: string | null
  /** The same fact in two places of the payload; they must not differ. */
  subscriptionId: string | null
  status: string
  amountDue: number
  amountPaid: number
  amountRemaining: number
  currency: string | null
  collection: 'charge_automatically' | 'send_invoice'
  billingReason: string | null
  createdAt: Instant | null
  dueAt: Instant | null
  finalizedAt: Instant | null
}

/** Everything that access depends on, for one customer of one account, read at one time. */
export type Snapshot = {
  customerId: string
  deleted: boolean
  /** `metadata.tenant_id` of the customer. */
  tenantId: string | null
  /** Frozen time of the customer's test clock, where it has one: then this is the customer's "now". */
  clockAt: Instant | null
  subscriptions: Subscription[]
}

export type FeatureValue = boolean | number | string

export const ACCESS_STATES = ['active', 'trial', 'grace', 'suspended', 'pending', 'ended'] as const
export type AccessState = (typeof ACCESS_STATES)[number]

/** Why a row is as it is: the rule's name and the facts it used. Ids and codes only. */
export type Because = {
  rule: string
  status: string
  subscriptionId: string
  itemId: string
  priceId: string
  [fact: string]: string | number | boolean | null
}

/**
 * What one subscription item gives, or no longer gives, of one feature. The feature `$plan` carries the plan's
 * name. Access holds from `from` until `finalAt`; past `recheckAt` it is stale until Stripe is read again.
 */
export type Entitlement = {
  feature: string
  value: FeatureValue
  subscriptionId: string
  itemId: string
  plan: string
  rank: number
  state: AccessState
  /** Does it give access now (false for suspended, pending, ended)? */
  granted: boolean
  from: Instant | null
  finalAt: Instant | null
  recheckAt: Instant | null
  because: Because
}

/** Something a person should know that stops nothing. */
export type Finding = {
  code: string
  subject: string
  detail: Record<string, string | number | boolean | null>
}

export type Decision =
  | {
      kind: 'decided'
      entitlements: Entitlement[]
      /** Subscriptions or items whose stored rows stay as they are (a status or price that we cannot read). */
      held: string[]
      findings: Finding[]
      /** Price id -> plan, found by lookup key or product, to be remembered. */
      mappings: Record<string, string>
      /** When Stripe must be read again at the latest: the earliest recheck end. */
      recheckAt: Instant | null
    }
  | {
      kind: 'blocked'
      reason: 'ambiguous_multi_subscription' | 'unmapped_stripe_price'
      /** The subscriptions or prices it is about. */
      subjects: string[]
    }
