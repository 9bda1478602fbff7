// From Stripe's JSON of any version to the model, and what is remembered: rules.md, sections 1, 5 and 6.
import { expect, test } from 'vitest'
import { readCustomer, readInvoice, readSubscription, remember } from '../../src/entitlements/snapshot.ts'
import type { Reading } from '../../src/entitlements/snapshot.ts'
import {
  NOON,
  aRawInvoice,
  aRawItem,
  aRawSubscription,
  aRawSubscriptionOf2012,
  aSubscription,
  anInvoice,
  anItem,
  inDays,
  secondsOf,
} from './builders.ts'

const valueOf = <T>(reading: Reading<T>): T => {
  if (reading.kind === 'unrecognized') throw new Error(reading.why)
  return reading.value
}
const whyOf = (reading: Reading<unknown>) => (reading.kind === 'unrecognized' ? reading.why : null)
const subscriptionOf = (given: Record<string, unknown> = {}) =>
  valueOf(readSubscription(aRawSubscription(given)))
const invoiceOf = (given: Record<string, unknown> = {}) => valueOf(readInvoice(aRawInvoice(given)))
const itemsOf = (...data: unknown[]) => ({ items: { object: 'list', data, has_more: false } })

// Subscriptions

test('a subscription of today is read whole', () => {
  const raw = aRawSubscription({
    cancel_at: secondsOf(inDays(20)),
    canceled_at: secondsOf(inDays(-1)),
    trial_end: secondsOf(inDays(-60)),
    pause_collection: { behavior: 'void', resumes_at: secondsOf(inDays(5)) },
    collection_method: 'send_invoice',
    metadata: { tenant_id: 'acme' },
  })

  expect(valueOf(readSubscription(raw))).toEqual({
    id: 'sub_A',
    customerId: 'cus_A',
    status: 'active',
    startedAt: inDays(-100),
    cancelAt: inDays(20),
    cancelAtPeriodEnd: false,
    canceledAt: inDays(-1),
    endedAt: null,
    trialEnd: inDays(-60),
    pause: { behavior: 'void', resumesAt: inDays(5) },
    statusDetail: null,
    collection: 'send_invoice',
    tenantId: 'acme',
    items: [
      {
        id: 'si_A',
        priceId: 'price_pro',
        lookupKey: 'pro',
        productId: 'prod_pro',
        quantity: 3,
        metered: false,
        periodStart: inDays(-10),
        periodEnd: inDays(20),
      },
    ],
    unpaid: null,
    pausedUntil: null,
  })
})

test('a subscription of 2012 is one item that bears the id of the subscription', () => {
  const { startedAt, items } = valueOf(readSubscription(aRawSubscriptionOf2012()))

  expect(startedAt).toBe(inDays(-100))
  expect(items).toEqual([
    anItem({ id: 'sub_A', priceId: 'gold', productId: null, quantity: 3, periodEnd: inDays(20) }),
  ])
})

test.each([
  ['2018: items with plans, period on top', [{ id: 'si_A', plan: { id: 'gold' }, quantity: 2 }], 'gold', 2],
  ['an item without price or plan beside the top-level plan', [{ id: 'si_A' }], 'top', 9],
  ['price before plan', [{ id: 'si_A', price: { id: 'p1' }, plan: { id: 'p0' }, quantity: 2 }], 'p1', 2],
  ['a price that is a string', [{ id: 'si_A', price: 'p1', quantity: 2 }], 'p1', 2],
])('legacy shape: %s', (_, data, priceId, quantity) => {
  const raw = aRawSubscriptionOf2012({ plan: { id: 'top' }, quantity: 9, ...itemsOf(...data) })

  expect(valueOf(readSubscription(raw)).items).toEqual([
    anItem({ id: 'si_A', priceId, productId: null, quantity, periodEnd: inDays(20) }),
  ])
})

test('the top-level plan says nothing of a subscription with two items', () => {
  const raw = aRawSubscription({ plan: { id: 'top' }, ...itemsOf(aRawItem(), { id: 'si_B', quantity: 1 }) })

  expect(whyOf(readSubscription(raw))).toContain('item si_B: no price')
})

test('the period is read from the item, else from the top, and its absence is told', () => {
  const bare = aRawItem({ current_period_start: undefined, current_period_end: undefined })
  const top = { current_period_start: secondsOf(inDays(-1)), current_period_end: secondsOf(inDays(29)) }

  expect(subscriptionOf({ ...top }).items[0]).toMatchObject({ periodEnd: inDays(20) })
  expect(subscriptionOf({ ...top, ...itemsOf(bare) }).items[0]).toMatchObject({
    periodStart: inDays(-1),
    periodEnd: inDays(29),
  })
  expect(whyOf(readSubscription(aRawSubscription(itemsOf(bare))))).toBe('item si_A: no period end')
  expect(subscriptionOf({ status: 'canceled', ...itemsOf(bare) }).items[0]).toMatchObject({ periodEnd: null })
})

test.each([
  ['a string', 'cus_A'],
  ['an expanded object', { id: 'cus_A', object: 'customer' }],
  ['a deleted object', { id: 'cus_A', object: 'customer', deleted: true }],
])('the customer of a subscription may be %s', (_, customer) => {
  expect(subscriptionOf({ customer }).customerId).toBe('cus_A')
})

test('an expanded or deleted product is read as its id', () => {
  const withProduct = (product: unknown) =>
    subscriptionOf(itemsOf(aRawItem({ price: { id: 'price_pro', product } }))).items[0]?.productId

  expect(withProduct({ id: 'prod_x', name: 'Pro' })).toBe('prod_x')
  expect(withProduct({ id: 'prod_x', deleted: true })).toBe('prod_x')
  expect(withProduct(null)).toBeNull()
})

test.each([
  ['no object', null, 'not an object'],
  ['a list', [], 'not an object'],
  ['an object of another kind', aRawSubscription({ object: 'customer' }), 'not of kind subscription'],
  ['no id, as in 2013', aRawSubscription({ id: undefined }), 'no id'],
  ['no customer', aRawSubscription({ customer: null }), 'no customer'],
  ['an empty customer', aRawSubscription({ customer: '' }), 'no customer'],
  [
    'a customer that is a subscription',
    aRawSubscription({ customer: { id: 'x', object: 'subscription' } }),
    'customer: id of wrong kind',
  ],
  ['a customer id of another kind', aRawSubscription({ customer: 'sub_A' }), 'customer: id of wrong kind'],
  ['no status', aRawSubscription({ status: null }), 'no status'],
  ['no items and no plan', aRawSubscription({ items: undefined }), 'no items'],
  ['an empty list of items', aRawSubscription(itemsOf()), 'no items'],
  [
    'a first page of items',
    aRawSubscription({ items: { data: [aRawItem()], has_more: true } }),
    'items: only the first page',
  ],
  ['an item twice', aRawSubscription(itemsOf(aRawItem(), aRawItem())), 'items: the same id twice'],
  [
    'one of two items without id',
    aRawSubscription(itemsOf(aRawItem(), aRawItem({ id: null }))),
    'items: one without id',
  ],
  [
    'a negative quantity',
    aRawSubscription(itemsOf(aRawItem({ quantity: -1 }))),
    'item si_A: quantity is not a count',
  ],
  [
    'half a seat',
    aRawSubscription(itemsOf(aRawItem({ quantity: 2.5 }))),
    'item si_A: quantity is not a count',
  ],
  [
    'a quantity beyond 2^53',
    aRawSubscription(itemsOf(aRawItem({ quantity: 2 ** 53 }))),
    'item si_A: quantity is not a count',
  ],
  [
    'a quantity as text',
    aRawSubscription(itemsOf(aRawItem({ quantity: '3' }))),
    'item si_A: quantity is not a count',
  ],
  [
    'a fractional decimal',
    aRawSubscription(itemsOf(aRawItem({ quantity: undefined, quantity_decimal: '2.5' }))),
    'item si_A: quantity is not a count',
  ],
  ['a time as text', aRawSubscription({ trial_end: '2026-01-01' }), 'trial_end: not a time'],
  ['a time beyond all calendars', aRawSubscription({ cancel_at: 1e300 }), 'cancel_at: not a time'],
  ['milliseconds for seconds', aRawSubscription({ cancel_at: 4_102_444_800_000 }), 'cancel_at: not a time'],
  ['a time before 1970', aRawSubscription({ ended_at: -1 }), 'ended_at: not a time'],
])('a subscription with %s is unrecognized', (_, raw, why) => {
  expect(whyOf(readSubscription(raw))?.split('; ')).toContain(why)
})

test('an ended subscription may be empty', () => {
  expect(subscriptionOf({ status: 'canceled', ...itemsOf() }).items).toEqual([])
  expect(subscriptionOf({ status: 'incomplete_expired', items: undefined }).items).toEqual([])
})

test.each([
  [
    'usage_type metered',
    { price: { id: 'p', recurring: { usage_type: 'metered' } }, quantity: undefined },
    null,
    true,
  ],
  [
    'usage_type metered with a quantity',
    { price: { id: 'p', recurring: { usage_type: 'metered' } }, quantity: 2.5 },
    null,
    true,
  ],
  ['a metered plan', { price: undefined, plan: { id: 'p', usage_type: 'metered' }, quantity: 1 }, null, true],
  [
    'a metered plan beside a price',
    { price: { id: 'p' }, plan: { id: 'p', usage_type: 'metered' } },
    null,
    true,
  ],
  ['no quantity at all', { quantity: undefined }, null, true],
  ['quantity 0', { quantity: 0 }, 0, false],
  ['a quantity beyond int4', { quantity: 13_580_246_790 }, 13_580_246_790, false],
  ['a whole decimal', { quantity: undefined, quantity_decimal: '4.0' }, 4, false],
  ['a decimal object', { quantity: undefined, quantity_decimal: { toString: () => '5' } }, 5, false],
])('quantity: %s', (_, given, quantity, metered) => {
  expect(subscriptionOf(itemsOf(aRawItem(given))).items[0]).toMatchObject({ quantity, metered })
})

test('part-cent prices and decimal objects are no concern of a reader', () => {
  const price = {
    id: 'p',
    unit_amount: null,
    unit_amount_decimal: { toString: () => '0.5' },
    product: 'prod_pro',
  }

  expect(subscriptionOf(itemsOf(aRawItem({ price }))).items[0]).toMatchObject({ priceId: 'p' })
})

test('a decimal that cannot be printed does not throw', () => {
  const raw = aRawSubscription(itemsOf(aRawItem({ quantity: undefined, quantity_decimal: { toString: 1 } })))

  expect(whyOf(readSubscription(raw))).toBe('item si_A: quantity is not a count')
})

test('an instant is a whole number of milliseconds', () => {
  expect(subscriptionOf({ trial_end: 1.0004 }).trialEnd).toBe(1_000)
})

test('seconds become milliseconds, also the first and a late one', () => {
  expect(subscriptionOf({ trial_end: 1, cancel_at: 4_102_444_800 })).toMatchObject({
    trialEnd: 1_000,
    cancelAt: Date.UTC(2100, 0, 1),
  })
})

test.each([
  [
    'ended_at',
    { status: 'canceled', ended_at: secondsOf(inDays(-1)), canceled_at: secondsOf(inDays(-9)) },
    inDays(-1),
  ],
  [
    'canceled_at where there is no ended_at',
    { status: 'canceled', ended_at: undefined, canceled_at: secondsOf(inDays(-9)) },
    inDays(-9),
  ],
  ['null where there is neither', { status: 'canceled' }, null],
  ['null while a cancellation is only asked for', { canceled_at: secondsOf(inDays(-9)) }, null],
])('a subscription ended at %s', (_, given, endedAt) => {
  expect(subscriptionOf(given).endedAt).toBe(endedAt)
})

test.each([
  [
    'an on-demand pause',
    {
      status: 'paused',
      status_details: { paused: { type: 'subscription', subscription: { type: 'pause_requested' } } },
    },
    'pause_requested',
  ],
  ['a trial that ended without a card, old shape', { status: 'paused' }, null],
  [
    'a cancellation',
    { status: 'canceled', cancellation_details: { reason: 'payment_failed' } },
    'payment_failed',
  ],
  [
    'a cancellation that is only scheduled',
    { cancellation_details: { reason: 'cancellation_requested' } },
    null,
  ],
])('the detail of %s is kept', (_, given, detail) => {
  expect(subscriptionOf(given).statusDetail).toBe(detail)
})

test('a status of tomorrow is read as it is', () => {
  expect(subscriptionOf({ status: 'some_future_state' }).status).toBe('some_future_state')
})

test('the start is the back-dated one, else the creation', () => {
  expect(subscriptionOf().startedAt).toBe(inDays(-100))
  expect(subscriptionOf({ start_date: undefined }).startedAt).toBe(inDays(-90))
})

test('collection is by charge unless an invoice is sent, also in the field of 2018', () => {
  expect(subscriptionOf().collection).toBe('charge_automatically')
  expect(subscriptionOf({ collection_method: undefined, billing: 'send_invoice' }).collection).toBe(
    'send_invoice',
  )
})

test.each([
  ['text', { tenant_id: 'acme' }, 'acme'],
  ['text in any script', { tenant_id: 'äcmé 東京 🙂' }, 'äcmé 東京 🙂'],
  ['255 characters', { tenant_id: 'x'.repeat(255) }, 'x'.repeat(255)],
  ['256 characters', { tenant_id: 'x'.repeat(256) }, null],
  ['empty', { tenant_id: '' }, null],
  ['blank', { tenant_id: '  ' }, null],
  ['a NUL', { tenant_id: 'a\u0000b' }, null],
  ['a line break', { tenant_id: 'a\nb' }, null],
  ['half a character', { tenant_id: 'a\ud800' }, null],
  ['a number', { tenant_id: 7 }, null],
  ['missing', {}, null],
  ['without metadata', null, null],
])('metadata.tenant_id: %s', (_, metadata, tenantId) => {
  expect(subscriptionOf({ metadata }).tenantId).toBe(tenantId)
  expect(valueOf(readCustomer({ id: 'cus_A', object: 'customer', metadata })).tenantId).toBe(tenantId)
})

// Invoices

test('an invoice of today is read whole', () => {
  expect(invoiceOf({ collection_method: 'send_invoice', due_date: secondsOf(inDays(9)) })).toEqual({
    id: 'in_A',
    customerId: 'cus_A',
    subscriptionId: 'sub_A',
    status: 'open',
    amountDue: 2000,
    amountPaid: 500,
    amountRemaining: 1500,
    currency: 'usd',
    collection: 'send_invoice',
    billingReason: 'subscription_cycle',
    createdAt: inDays(-3),
    dueAt: inDays(9),
    finalizedAt: inDays(-2),
  })
})

test.each([
  ['in parent', {}, 'sub_A'],
  [
    'expanded in parent',
    { parent: { subscription_details: { subscription: { id: 'sub_A', object: 'subscription' } } } },
    'sub_A',
  ],
  ['nowhere', { parent: null }, null],
  ['nowhere, for a quote', { parent: { type: 'quote_details', subscription_details: null } }, null],
  ['in the legacy field', { parent: undefined, subscription: 'sub_A' }, 'sub_A'],
  ['in both', { subscription: 'sub_A' }, 'sub_A'],
  ['in the legacy field beside an empty parent', { parent: null, subscription: { id: 'sub_A' } }, 'sub_A'],
])('the subscription of an invoice stands %s', (_, given, id) => {
  expect(invoiceOf(given).subscriptionId).toBe(id)
})

test.each([
  ['no id, as invoice.upcoming has none', aRawInvoice({ id: undefined }), 'no id'],
  ['two subscriptions', aRawInvoice({ subscription: 'sub_B' }), 'contradictory subscriptions'],
  [
    'a subscription that is a customer',
    aRawInvoice({ subscription: 'cus_A' }),
    'subscription: id of wrong kind',
  ],
  [
    'a customer that is an invoice',
    aRawInvoice({ customer: { id: 'in_A', object: 'invoice' } }),
    'customer: id of wrong kind',
  ],
  ['no status', aRawInvoice({ status: null }), 'no status'],
  ['an amount as text', aRawInvoice({ amount_paid: '1.05' }), 'amount_paid: not an amount'],
  ['an amount beyond 2^53', aRawInvoice({ amount_due: 2 ** 60 }), 'amount_due: not an amount'],
  ['an object of another kind', aRawInvoice({ object: 'subscription' }), 'not of kind invoice'],
  ['no object', 'in_A', 'not an object'],
])('an invoice with %s is unrecognized', (_, raw, why) => {
  expect(whyOf(readInvoice(raw))?.split('; ')).toContain(why)
})

test('an invoice may name no customer and be of any size', () => {
  const given = {
    customer: null,
    amount_due: 99_999_999_999,
    amount_paid: 99_999_999_999,
    amount_remaining: 0,
  }

  expect(invoiceOf(given)).toMatchObject({ customerId: null, amountPaid: 99_999_999_999 })
})

test('an invoice of zero is an invoice', () => {
  const given = { status: 'paid', amount_due: 0, amount_paid: 0, amount_remaining: 0, charge: null }

  expect(invoiceOf(given)).toMatchObject({ status: 'paid', amountDue: 0, amountRemaining: 0 })
})

test.each([
  [
    'paid',
    { paid: true, closed: true, forgiven: false },
    { status: 'paid', amountPaid: 700, amountRemaining: 0 },
  ],
  ['forgiven', { paid: false, closed: true, forgiven: true }, { status: 'uncollectible', amountPaid: 0 }],
  ['open', { paid: false, closed: false, forgiven: false }, { status: 'open', amountRemaining: 700 }],
])('flags of 2012 say that an invoice is %s', (_, flags, expected) => {
  const raw = {
    id: 'in_A',
    object: 'invoice',
    customer: 'cus_A',
    date: secondsOf(inDays(-3)),
    amount_due: 700,
    ...flags,
  }

  expect(valueOf(readInvoice(raw))).toMatchObject({
    ...expected,
    createdAt: inDays(-3),
    finalizedAt: inDays(-3),
  })
})

test('a draft is not final', () => {
  expect(invoiceOf({ status: 'draft', status_transitions: { finalized_at: null } }).finalizedAt).toBeNull()
  expect(invoiceOf({ status: 'draft', status_transitions: undefined }).finalizedAt).toBeNull()
})

// Customers

test('a deleted customer is read from the little that is left', () => {
  expect(readCustomer({ id: 'cus_A', object: 'customer', deleted: true })).toEqual({
    kind: 'read',
    value: { id: 'cus_A', deleted: true, tenantId: null, testClockId: null },
  })
})

test('a customer on a test clock names it, expanded or not', () => {
  expect(valueOf(readCustomer({ id: 'cus_A', test_clock: 'clock_1' })).testClockId).toBe('clock_1')
  expect(valueOf(readCustomer({ id: 'cus_A', test_clock: { id: 'clock_1' } }))).toMatchObject({
    testClockId: 'clock_1',
    deleted: false,
  })
})

test.each([
  ['a bare id', 'cus_A', 'not an object'],
  ['an answer without id', { message: 'Not Found' }, 'no id'],
  ['another kind', { id: 'sub_A', object: 'subscription' }, 'not of kind customer'],
])('%s is no customer', (_, raw, why) => {
  expect(whyOf(readCustomer(raw))).toBe(why)
})

// What is remembered

const pastDue = aSubscription({ status: 'past_due' })
const owing = (invoiceId: string | null, since: number) =>
  aSubscription({ status: 'past_due', unpaid: { invoiceId, since } })
const unpaid = (given: Partial<Parameters<typeof remember>[0]>) =>
  remember({ previous: null, current: pastDue, openInvoices: [], now: NOON, ...given }).unpaid

test('money is owed since the oldest open invoice was finalised', () => {
  const openInvoices = [
    anInvoice({ id: 'in_2', finalizedAt: inDays(-1) }),
    anInvoice({ id: 'in_1', finalizedAt: inDays(-31) }),
    anInvoice({ id: 'in_3', finalizedAt: inDays(-2) }),
  ]

  expect(unpaid({ openInvoices })).toEqual({ invoiceId: 'in_1', since: inDays(-31) })
})

test('a sent invoice is owed since its due date', () => {
  const openInvoices = [
    anInvoice({ collection: 'send_invoice', finalizedAt: inDays(-40), dueAt: inDays(-10) }),
  ]

  expect(unpaid({ openInvoices })).toEqual({ invoiceId: 'in_A', since: inDays(-10) })
})

test('a due date on a charged invoice is not what counts', () => {
  expect(unpaid({ openInvoices: [anInvoice({ dueAt: inDays(9), finalizedAt: inDays(-3) })] })?.since).toBe(
    inDays(-3),
  )
})

test('a sent invoice is due at its due date, not before', () => {
  const sent = (dueAt: number) => [anInvoice({ collection: 'send_invoice', finalizedAt: inDays(-40), dueAt })]

  expect(unpaid({ openInvoices: sent(NOON) })).toEqual({ invoiceId: 'in_A', since: NOON })
  expect(unpaid({ openInvoices: sent(NOON + 1) })).toEqual({ invoiceId: null, since: NOON })
})

test.each([
  ['of another subscription', anInvoice({ subscriptionId: 'sub_B' })],
  ['that is paid', anInvoice({ status: 'paid' })],
  ['that is void', anInvoice({ status: 'void' })],
  ['with nothing remaining', anInvoice({ amountRemaining: 0 })],
])('an invoice %s is not owed', (_, invoice) => {
  expect(unpaid({ openInvoices: [invoice] })).toEqual({ invoiceId: null, since: NOON })
})

test('without an open invoice money is owed since past_due was first seen, whenever it is looked at', () => {
  expect(unpaid({ now: inDays(5), previous: owing(null, NOON) })).toEqual({ invoiceId: null, since: NOON })
})

test('a second look, a retry or a requeue never restarts it', () => {
  const openInvoices = [anInvoice({ id: 'in_1', finalizedAt: inDays(-2) })]

  expect(unpaid({ previous: owing('in_1', inDays(-4)), openInvoices })).toEqual({
    invoiceId: 'in_1',
    since: inDays(-4),
  })
})

test('it is computed anew when its invoice is no longer open', () => {
  const openInvoices = [anInvoice({ id: 'in_2', finalizedAt: inDays(-2) })]

  expect(unpaid({ previous: owing('in_1', inDays(-40)), openInvoices })).toEqual({
    invoiceId: 'in_2',
    since: inDays(-2),
  })
  expect(unpaid({ previous: owing('in_1', inDays(-40)) })).toEqual({ invoiceId: null, since: NOON })
})

test('an invoice that is found later takes the place of the first sight', () => {
  const openInvoices = [anInvoice({ id: 'in_1', finalizedAt: inDays(-2) })]

  expect(unpaid({ previous: owing(null, inDays(-1)), openInvoices })).toEqual({
    invoiceId: 'in_1',
    since: inDays(-2),
  })
})

test('recovery clears it, and a new delinquency starts a new one', () => {
  const recovered = remember({
    previous: owing('in_1', inDays(-4)),
    current: aSubscription(),
    openInvoices: [anInvoice()],
    now: NOON,
  })

  expect(recovered.unpaid).toBeNull()
  expect(unpaid({ previous: recovered, now: inDays(40) })).toEqual({ invoiceId: null, since: inDays(40) })
})

test('a subscription that is unpaid or canceled owes nothing that could give grace', () => {
  for (const status of ['unpaid', 'canceled', 'incomplete', 'active'])
    expect(unpaid({ current: aSubscription({ status }), openInvoices: [anInvoice()] })).toBeNull()
})

const pause = { behavior: 'void', resumesAt: null }
const pausedUntil = (
  previous: ReturnType<typeof aSubscription> | null,
  current: ReturnType<typeof aSubscription>,
) => remember({ previous, current, openInvoices: [], now: NOON }).pausedUntil

test('a pause lasts from the earliest period that was running when it was first seen', () => {
  const items = [anItem({ periodEnd: inDays(300) }), anItem({ id: 'si_B', periodEnd: inDays(20) })]
  const first = aSubscription({ pause, items, pausedUntil: inDays(20) })
  const later = aSubscription({ pause, items: [anItem({ periodEnd: inDays(50) })] })

  expect(pausedUntil(null, aSubscription({ pause, items }))).toBe(inDays(20))
  expect(pausedUntil(aSubscription({ items }), aSubscription({ pause, items }))).toBe(inDays(20))
  expect(pausedUntil(first, later)).toBe(inDays(20))
})

test('a pause that is over is forgotten, and the next one starts anew', () => {
  const resumed = aSubscription({ items: [anItem({ periodEnd: inDays(50) })] })

  expect(pausedUntil(aSubscription({ pause, pausedUntil: inDays(20) }), resumed)).toBeNull()
  expect(pausedUntil({ ...resumed, pausedUntil: inDays(20) }, { ...resumed, pause })).toBe(inDays(50))
})

test('remembering changes nothing else', () => {
  const current = aSubscription({ status: 'past_due', pause })

  expect({
    ...remember({ previous: null, current, openInvoices: [], now: NOON }),
    unpaid: null,
    pausedUntil: null,
  }).toEqual(current)
})
