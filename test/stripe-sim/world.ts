// One simulated account at work: its store, its time, its ids, its event log. Verbs change the store inside
// `mutate` (which keeps what was, for stale reads) and announce changes with `emit` and `changing`.

import { missing } from './errors.ts'
import { hashSeed, makeIds, seededRng } from './ids.ts'
import type { MakeId } from './ids.ts'
import { witness } from './honesty/witness.ts'
import { eraOf, previousAttributes, render } from './wire/render.ts'
import { emptyStore, snapshotOf } from './state.ts'
import type { CustomerState, Kind, Kinds } from './records.ts'
import type { CustomerSnapshot, Store } from './state.ts'

export type SimAccount = {
  name: string
  id: string
  apiKey: string
  livemode: boolean
  webhookSecret: string
  apiVersion?: string
  /** Name of the platform account whose Connect endpoints hear of this one. */
  connectedTo?: string
}
export type StripeEvent = {
  id: string
  object: 'event'
  account?: string
  api_version: string
  created: number
  data: { object: Record<string, unknown>; previous_attributes?: Record<string, unknown> }
  livemode: boolean
  pending_webhooks: number
  request: { id: string | null; idempotency_key: string | null }
  type: string
}
export type EventExtra = Partial<Omit<StripeEvent, 'data' | 'type'>> & {
  previousAttributes?: Record<string, unknown>
  /** By a test, like nothing that Stripe would say. */
  forged?: boolean
}
/** Who said that a customer belongs to a tenant, in the order in which it was said. */
export type LinkEvidence = {
  customer: string
  tenant: string
  source: 'metadata' | 'client_reference_id' | 'host'
}

export type World = {
  account: SimAccount
  version: string
  store: Store
  id: MakeId
  requestId: MakeId
  events: StripeEvent[]
  evidence: LinkEvidence[]
  history: Map<string, CustomerSnapshot[]>
  lastChanged: string | null
  request: StripeEvent['request']
  /** `raw`: the object for every version, see wire/render.ts. */
  onEvent: (event: StripeEvent, raw: object) => void
  /** Seconds; of the customer's test clock if it is on one. */
  now(customer?: string): number
  at<T>(seconds: number, action: () => T): T
  mutate<T>(customer: string, action: () => T): T
  emit(type: string, object: object, extra?: EventExtra): StripeEvent
}

export const LATEST_VERSION = '2026-10-28.endive'

// How many earlier states of a customer are kept: a stale read shows the last one.
const HISTORY = 4

export const createWorld = (account: SimAccount, seed: number, nowMs: () => number): World => {
  let pinned: number | null = null
  let depth = 0
  const version = account.apiVersion ?? LATEST_VERSION
  const world: World = {
    account,
    version,
    store: emptyStore(),
    id: makeIds(seededRng(hashSeed(seed, account.name))),
    requestId: makeIds(seededRng(hashSeed(seed, `${account.name} requests`))),
    events: [],
    evidence: [],
    history: new Map(),
    lastChanged: null,
    request: { id: null, idempotency_key: null },
    onEvent: () => undefined,
    now: (customer) => {
      if (pinned !== null) return pinned
      const clock = customer === undefined ? null : (world.store.customer.get(customer)?.testClock ?? null)
      const frozen = clock === null ? undefined : world.store.clock.get(clock)
      return frozen?.frozenTime ?? Math.floor(nowMs() / 1000)
    },
    at: (seconds, action) => {
      const before = pinned
      pinned = seconds
      try {
        return action()
      } finally {
        pinned = before
      }
    },
    mutate: (customer, action) => {
      if (depth === 0 && world.store.customer.has(customer)) {
        const kept = world.history.get(customer) ?? []
        world.history.set(customer, [...kept, snapshotOf(world.store, customer)].slice(-HISTORY))
      }
      if (depth === 0) world.lastChanged = customer
      depth += 1
      try {
        return action()
      } finally {
        depth -= 1
      }
    },
    emit: (type, object, extra = {}) => emitEvent(world, type, object, extra),
  }
  return world
}

const emitEvent = (world: World, type: string, object: object, extra: EventExtra): StripeEvent => {
  const { previousAttributes: previous, forged = false, ...fields } = extra
  const rendered = render(object, world.version) as Record<string, unknown>
  const customer = typeof rendered['customer'] === 'string' ? rendered['customer'] : String(rendered['id'])
  const event: StripeEvent = {
    id: world.id('evt'),
    object: 'event',
    api_version: world.version,
    created: world.now(customer),
    data: { object: rendered, ...(previous === undefined ? {} : { previous_attributes: previous }) },
    livemode: world.account.livemode,
    pending_webhooks: 0,
    request: { ...world.request },
    type,
    ...fields,
  }
  if (!forged && eraOf(world.version) === 'item') witness(event, type)
  world.events.push(event)
  world.onEvent(event, object)
  return event
}

/** Runs the change and emits `type` with what changed; nothing if the wire object is the same as before. */
export const changing = <T>(world: World, type: string, wire: () => object, change: () => T): T => {
  const before = render(wire(), world.version)
  const result = change()
  const after = wire()
  const previous = previousAttributes(before, render(after, world.version))
  if (previous !== null) world.emit(type, after, { previousAttributes: previous })
  return result
}

export const need = <K extends Kind>(world: World, kind: K, id: string, param?: string): Kinds[K] => {
  const record = world.store[kind].get(id) as Kinds[K] | undefined
  if (record === undefined) throw missing(WORDS[kind] ?? kind, id, param)
  return record
}

/** A customer that can still be changed. */
export const liveCustomer = (world: World, id: string): CustomerState => {
  const customer = need(world, 'customer', id, 'customer')
  if (customer.deleted) throw missing('customer', id, 'customer')
  return customer
}

export const noteLink = (world: World, customer: string, tenant: string | undefined): void => {
  if (tenant !== undefined && tenant !== '') world.evidence.push({ customer, tenant, source: 'metadata' })
}

const WORDS: Partial<Record<Kind, string>> = {
  session: 'checkout.session',
  clock: 'test clock',
  method: 'PaymentMethod',
  intent: 'payment_intent',
  setupIntent: 'setupintent',
  schedule: 'subscription schedule',
  invoiceItem: 'invoiceitem',
  endpoint: 'webhook endpoint',
}
