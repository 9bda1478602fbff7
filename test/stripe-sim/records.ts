// The records of one simulated Stripe account: compact, not wire objects (wire/ makes those). All times are whole seconds,
// as at Stripe; all amounts in the smallest unit of their currency.

import type {
  ChargeState,
  DisputeState,
  IntentState,
  MethodState,
  RefundState,
  SetupIntentState,
} from './records-payments.ts'

import type { ClockState, EndpointState } from './records-platform.ts'

export type Metadata = Record<string, string>
export type Collection = 'charge_automatically' | 'send_invoice'
export type PauseBehavior = 'keep_as_draft' | 'mark_uncollectible' | 'void'
/** How often a price recurs. */
export const INTERVALS = ['day', 'week', 'month', 'year'] as const
export type Interval = (typeof INTERVALS)[number]
export type SubStatus =
  | 'active'
  | 'canceled'
  | 'incomplete'
  | 'incomplete_expired'
  | 'past_due'
  | 'paused'
  | 'trialing'
  | 'unpaid'

export type CustomerState = {
  id: string
  created: number
  email: string | null
  name: string | null
  description: string | null
  metadata: Metadata
  deleted: boolean
  testClock: string | null
  /** Every automatic payment fails, whatever the payment method. */
  failPayments: boolean
  defaultMethod: string | null
  /** Pays by a card that is nowhere shown: the customers of verbs. Those of the API pay by what is attached to them. */
  unseenCard: boolean
  discount: DiscountState | null
}
export type ProductState = {
  id: string
  created: number
  updated: number
  name: string
  description: string | null
  active: boolean
  metadata: Metadata
}
export type PriceState = {
  id: string
  created: number
  product: string
  lookupKey: string | null
  formerLookupKeys: string[]
  nickname: string | null
  currency: string
  unitAmount: number
  interval: Interval | null
  intervalCount: number
  usageType: 'licensed' | 'metered'
  active: boolean
  metadata: Metadata
}
export type CouponState = {
  id: string
  created: number
  name: string | null
  percentOff: number | null
  amountOff: number | null
  duration: 'forever' | 'once' | 'repeating'
  durationInMonths: number | null
  redeemed: number
  metadata: Metadata
}
export type DiscountState = { id: string; coupon: string; start: number; end: number | null }
export type ItemState = {
  id: string
  created: number
  price: string
  quantity: number | null
  periodStart: number
  periodEnd: number
}
export type SubState = {
  id: string
  created: number
  customer: string
  status: SubStatus
  items: ItemState[]
  metadata: Metadata
  startDate: number
  anchor: number
  cancelAt: number | null
  cancelAtPeriodEnd: boolean
  canceledAt: number | null
  endedAt: number | null
  cancelReason: 'cancellation_requested' | 'payment_failed' | null
  collection: Collection
  /** Of invoices that are sent. */
  daysUntilDue: number
  defaultMethod: string | null
  discount: DiscountState | null
  schedule: string | null
  trialStart: number | null
  trialEnd: number | null
  trialEndBehavior: 'cancel' | 'create_invoice' | 'pause'
  trialWillEndSent: boolean
  pause: { behavior: PauseBehavior; resumesAt: number | null } | null
  pastDueSince: number | null
  latestInvoice: string | null
}
export type PhaseState = {
  start: number
  end: number
  items: { price: string; quantity: number }[]
}
export type ScheduleState = {
  id: string
  created: number
  customer: string
  status: 'active' | 'canceled' | 'completed' | 'not_started' | 'released'
  endBehavior: 'cancel' | 'release'
  phases: PhaseState[]
  /** Index of the present one. */
  phase: number
  subscription: string | null
  releasedSubscription: string | null
  canceledAt: number | null
  completedAt: number | null
  releasedAt: number | null
  expiringSent: boolean
  metadata: Metadata
}
export type LineState = {
  id: string
  price: string | null
  item: string | null
  /** The invoice item that became this line. */
  invoiceItem: string | null
  description: string | null
  quantity: number | null
  amount: number
  start: number
  end: number
}
export type InvoiceItemState = {
  id: string
  created: number
  customer: string
  amount: number
  currency: string
  quantity: number
  description: string | null
  price: string | null
  invoice: string | null
  metadata: Metadata
}
export type InvoiceState = {
  id: string
  created: number
  customer: string
  subscription: string | null
  subscriptionMetadata: Metadata
  description: string | null
  metadata: Metadata
  status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void'
  currency: string
  /** After the discount. */
  amount: number
  discounted: { discount: DiscountState; amount: number } | null
  amountPaid: number
  reason: 'manual' | 'subscription_create' | 'subscription_cycle' | 'subscription_update'
  collection: Collection
  daysUntilDue: number
  dueDate: number | null
  overdueSent: boolean
  finalizedAt: number | null
  paidAt: number | null
  voidedAt: number | null
  uncollectibleAt: number | null
  attempts: number
  nextAttempt: number | null
  number: string | null
  lines: LineState[]
  paymentIntent: string | null
  charge: string | null
  payment: string | null
}
export type SessionState = {
  id: string
  created: number
  status: 'complete' | 'expired' | 'open'
  customer: string | null
  email: string | null
  mode: 'payment' | 'setup' | 'subscription'
  clientReferenceId: string | null
  metadata: Metadata
  subscriptionMetadata: Metadata
  trialDays: number | null
  items: { price: string; quantity: number }[]
  methodTypes: string[]
  paymentLink: string | null
  paymentStatus: 'no_payment_required' | 'paid' | 'unpaid'
  paymentIntent: string | null
  subscription: string | null
  invoice: string | null
  currency: string
  amount: number
  successUrl: string | null
  cancelUrl: string | null
}
export type Kinds = {
  customer: CustomerState
  product: ProductState
  price: PriceState
  coupon: CouponState
  subscription: SubState
  schedule: ScheduleState
  invoiceItem: InvoiceItemState
  invoice: InvoiceState
  method: MethodState
  intent: IntentState
  setupIntent: SetupIntentState
  charge: ChargeState
  refund: RefundState
  dispute: DisputeState
  session: SessionState
  clock: ClockState
  endpoint: EndpointState
}
export type Kind = keyof Kinds
