// The post between Stripe and us, and it is a bad one: it loses, doubles, delays and shuffles, by seeded dice. Pure but
// for its memory of what is still under way.
import { seededRng, type StripeEvent } from '../stripe-sim/sim.ts'

export type Posting = {
  event: StripeEvent
  /** `lost` never arrives; Stripe notices, and delivers it again on another day. */
  fate: 'arrives' | 'lost'
  trip: 'first' | 'redelivery'
  /** The second copy of the same delivery. */
  copy: boolean
  /** Days between the event and its arrival. */
  daysLate: number
  /** A newer event of the same customer arrived before it. */
  overtaken: boolean
}

export type Post = {
  /** What arrives today, in this order. On the last day everything that is under way does. */
  deliver: (today: Today) => Posting[]
}

type Today = { day: number; events: readonly StripeEvent[]; backwards: boolean; last: boolean }
type Held = { event: StripeEvent; since: number; due: number; trip: Posting['trip'] }

// What the endpoint is subscribed to at Stripe: what bears on access, and what a person wants to see in the ledger.
const ENDPOINT_EVENTS =
  /^(checkout\.session\.|customer\.(subscription\.|deleted)|invoice\.(paid|payment_failed|voided)$|charge\.(refunded|dispute\.))/

const LOST = 0.1
const LATE = 0.12
const DOUBLED = 0.2
const SHUFFLED = 0.4
// Far enough to jump over what belongs to other tenants.
const JUMP = 9
const DAYS_MAX = 3

export const openPost = (seed: number): Post => {
  const dice = seededRng(seed)
  const order = new Map<string, number>()
  const newest = new Map<string, number>()
  let held: Held[] = []

  const letGo = (today: Today): Posting[] => {
    const due = held.filter((one) => one.due <= today.day || today.last)
    held = held.filter((one) => !due.includes(one))
    return due.map(({ event, since, trip }) => posting(event, { trip, daysLate: today.day - since }))
  }
  const send = (event: StripeEvent, { day, backwards, last }: Today): Posting[] => {
    const luck = backwards || last ? 1 : dice()
    const hold = (trip: Posting['trip']) =>
      held.push({ event, since: day, due: day + 1 + Math.floor(dice() * DAYS_MAX), trip })
    if (luck < LOST) {
      hold('redelivery')
      return [posting(event, { fate: 'lost' })]
    }
    if (luck < LOST + LATE) {
      hold('first')
      return []
    }
    return [posting(event)]
  }
  // A copy is overtaken by itself: only first arrivals count.
  const note = (one: Posting): Posting => {
    if (one.fate === 'lost' || one.copy) return one
    const customer = customerOf(one.event) ?? ''
    const number = order.get(one.event.id) ?? 0
    const overtaken = (newest.get(customer) ?? -1) > number
    if (!overtaken) newest.set(customer, number)
    return { ...one, overtaken }
  }
  return {
    deliver: (today) => {
      const events = today.events.filter(({ type }) => ENDPOINT_EVENTS.test(type))
      for (const { id } of events) order.set(id, order.size)
      const first = [...letGo(today), ...events.flatMap((event) => send(event, today))]
      const copies = first
        .filter(({ fate }) => fate === 'arrives' && dice() < DOUBLED)
        .map((one) => ({ ...one, copy: true }))
      if (today.backwards) return [...first.toReversed(), ...copies].map(note)
      const placed = [...first, ...copies].map((one, index) => {
        // A copy comes right behind its original, or jumps like any other.
        const place = one.copy ? first.findIndex(({ event }) => event === one.event) + 0.5 : index
        return { one, place: place + (dice() < SHUFFLED ? dice() * JUMP : 0) }
      })
      return placed.toSorted((a, b) => a.place - b.place).map(({ one }) => note(one))
    },
  }
}

const posting = (event: StripeEvent, known: Partial<Posting> = {}): Posting => ({
  event,
  fate: 'arrives',
  trip: 'first',
  copy: false,
  daysLate: 0,
  overtaken: false,
  ...known,
})

/** Whom an event is about. */
export const customerOf = ({ data: { object } }: StripeEvent): string | null => {
  const id = object['object'] === 'customer' ? object['id'] : object['customer']
  return typeof id === 'string' ? id : null
}
