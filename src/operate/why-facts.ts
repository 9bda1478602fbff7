// The facts that `why` explains and what it says, as plain data. Types only.
import type { FeatureValue } from '../entitlements/model.ts'
import type { Instant } from '../time.ts'

export type Verdict = {
  allowed: boolean
  value: FeatureValue | null
  source: string | null
  until: Instant | null
}

export type WhySource = {
  account: string
  customerId: string
  subscriptionId: string
  feature: string
  plan: string
  state: string
  granted: boolean
  stale: boolean
  held: boolean
  finalAt: Instant | null
  recheckAt: Instant | null
  because: Record<string, string | number | boolean | null>
}

export type WhyCustomer = {
  account: string
  customerId: string
  linkedBy: string | null
  deleted: boolean
  readAt: Instant | null
  evidenceAt: Instant | null
  accountState: string
  subscriptions: {
    id: string
    status: string
    items: { priceId: string; plan: string | null; ignored: boolean }[]
  }[]
  newestEvent: { eventId: string; type: string; status: string; reason: string | null } | null
  waiting: number
  dead: number
  findings: string[]
  /** What a look at Stripe would change; null where nobody looked, with why. */
  live: { kind: 'agrees' } | { kind: 'differs'; would: string } | { kind: 'unknown'; why: string }
}

export type WhyOverride = {
  id: number
  effect: 'allow' | 'deny'
  value: FeatureValue | null
  until: Instant | null
  operator: string
  reason: string
}

export type WhyFacts = {
  tenant: string
  feature: string
  tenantKnown: boolean
  verdict: Verdict
  customers: WhyCustomer[]
  /** Rows of the feature and of the plan. */
  sources: WhySource[]
  overrides: WhyOverride[]
  catalog: { hash: string; defaultPlan: string; plansWith: string[]; defaultGives: boolean } | null
  revocationsHeldUntil: Instant | null
}

/** `ok` null: says something, and neither helps nor hinders. */
export type Link = { link: string; ok: boolean | null; says: string }

export type Why = {
  tenant: string
  feature: string
  allowed: boolean
  value: FeatureValue | null
  sentence: string
  /** What to look at first; null where nothing fails. */
  first: Link | null
  chain: Link[]
}
