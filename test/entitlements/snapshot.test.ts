// From Stripe's JSON of any version to a subscription or a customer: rules.md, sections 1, 2 and 5.
import { expect, test } from 'vitest'
import { readCustomer, readSubscription } from '../../src/entitlements/snapshot.ts'
import {
  aRawItem,
  aRawSubscription,
  inDays,
  itemsOf,
  secondsOf,
  subscriptionOf,
  valueOf,
  whyOf,
} from './builders.ts'

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

test.each([
  ['a string', 'cus_A'],
  ['an expanded object', { id: 'cus_A', object: 'customer' }],
  ['a deleted object', { id: 'cus_A', object: 'customer', deleted: true }],
])('the customer of a subscription may be %s', (_, customer) => {
  expect(subscriptionOf({ customer }).customerId).toBe('cus_A')
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
