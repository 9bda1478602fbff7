// The state of one simulated Stripe account: compact records, not wire objects (shapes.ts makes those).
// All times are whole seconds, as at Stripe. Also: snapshots of one customer's records, for stale reads.

export type Metadata = Record<string, string>
export type Collection = 'charge_automatically' | 'send_invoice'
export type PauseBehavior = 'keep_as_draft' | 'mark_uncollectible' | 'void'
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
  metadata: Metadata
  deleted: boolean
  testClock: string | null
  failPayments: boolean
}
export type ProductState = {
  id: string
  created: number
  updated: number
  name: string
  active: boolean
  metadata: Metadata
}
export type PriceState = {
  id: string
  created: number
  product: string
  lookupKey: string | null
  formerLookupKeys: string[]
  unitAmount: number
  interval: 'month' | 'year' | null
  usageType: 'licensed' | 'metered'
  active: boolean
  metadata: Metadata
}
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
  trialStart: number | null
  trialEnd: number | null
  trialEndBehavior: 'create_invoice' | 'pause'
  trialWillEndSent: boolean
  pause: { behavior: PauseBehavior; resumesAt: number | null } | null
  pastDueSince: number | null
  latestInvoice: string | null
}
export type LineState = {
  id: string
  price: string | null
  item: string | null
  quantity: number | null
  amount: number
  start: number
  end: number
}
export type InvoiceState = {
  id: string
  created: number
  customer: string
  subscription: string | null
  subscriptionMetadata: Metadata
  status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void'
  amount: number
  amountPaid: number
  reason: 'manual' | 'subscription_create' | 'subscription_cycle' | 'subscription_update'
  collection: Collection
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
export type ChargeState = {
  id: string
  created: number
  customer: string
  amount: number
  refunded: number
  disputed: boolean
  failed: boolean
  invoice: string
  paymentIntent: string
}
export type RefundState = {
  id: string
  created: number
  customer: string
  amount: number
  charge: string
  paymentIntent: string
}
export type DisputeState = RefundState & { status: 'needs_response' | 'won' | 'lost' }
export type SessionState = {
  id: string
  created: number
  customer: string | null
  email: string | null
  mode: 'subscription' | 'payment' | 'setup'
  clientReferenceId: string | null
  metadata: Metadata
  paymentLink: string | null
  paymentStatus: 'paid' | 'unpaid' | 'no_payment_required'
  subscription: string | null
  invoice: string | null
  amount: number
}
export type ClockState = { id: string; created: number; frozenTime: number; name: string | null }

export type Kinds = {
  customer: CustomerState
  product: ProductState
  price: PriceState
  subscription: SubState
  invoice: InvoiceState
  charge: ChargeState
  refund: RefundState
  dispute: DisputeState
  session: SessionState
  clock: ClockState
}
export type Kind = keyof Kinds
export type Store = { [K in Kind]: Map<string, Kinds[K]> } & { owned: Map<string, Map<string, Kind>> }
export type CustomerSnapshot = { customer: string; records: Map<string, Kinds[Kind]> }

const KINDS: readonly Kind[] = [
  'customer',
  'product',
  'price',
  'subscription',
  'invoice',
  'charge',
  'refund',
  'dispute',
  'session',
  'clock',
]

export const emptyStore = (): Store => ({
  customer: new Map(),
  product: new Map(),
  price: new Map(),
  subscription: new Map(),
  invoice: new Map(),
  charge: new Map(),
  refund: new Map(),
  dispute: new Map(),
  session: new Map(),
  clock: new Map(),
  owned: new Map(),
})

export const put = <K extends Kind>(store: Store, kind: K, record: Kinds[K]): Kinds[K] => {
  const map = store[kind] as Map<string, Kinds[K]>
  map.set(record.id, record)
  const owner = ownerOf(record, kind)
  if (owner !== null) {
    const mine = store.owned.get(owner) ?? new Map<string, Kind>()
    store.owned.set(owner, mine.set(record.id, kind))
  }
  return record
}

// Oldest first: Map keeps the order of insertion, which is the order of creation.
export const ownedBy = <K extends Kind>(store: Store, customer: string, kind: K): Kinds[K][] => {
  const found: Kinds[K][] = []
  for (const [id, ownedKind] of store.owned.get(customer) ?? []) {
    const record = ownedKind === kind ? store[kind].get(id) : undefined
    if (record !== undefined) found.push(record as Kinds[K])
  }
  return found
}

export const snapshotOf = (store: Store, customer: string): CustomerSnapshot => {
  const records = new Map<string, Kinds[Kind]>()
  for (const [id, kind] of store.owned.get(customer) ?? []) {
    const record = store[kind].get(id)
    if (record !== undefined) records.set(id, structuredClone(record))
  }
  return { customer, records }
}

// The store as it was for this customer at the snapshot; records made since are absent.
export const storeAsOf = (store: Store, snapshot: CustomerSnapshot): Store => {
  const past = emptyStore()
  for (const kind of KINDS) {
    for (const record of store[kind].values()) {
      const owner = ownerOf(record, kind)
      const old = owner === snapshot.customer ? snapshot.records.get(record.id) : record
      if (old !== undefined) put(past, kind, old as never)
    }
  }
  return past
}

const ownerOf = (record: Kinds[Kind], kind: Kind): string | null =>
  kind === 'customer' ? record.id : 'customer' in record ? record.customer : null
