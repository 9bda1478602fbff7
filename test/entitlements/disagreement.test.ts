// What counts as a disagreement between a payload and a live read: rules.md, section 3.
import { expect, test } from 'vitest'
import { disagreements, inputsOf } from '../../src/entitlements/disagreement.ts'
import { readSubscription } from '../../src/entitlements/snapshot.ts'
import { aRawItem, aRawSubscription, aRawSubscriptionOf2012, inDays, secondsOf } from './builders.ts'

/** What Stripe answers now, in the current version. */
const liveOf = (given: Record<string, unknown> = {}) => {
  const reading = readSubscription(aRawSubscription(given))
  if (reading.kind === 'unrecognized') throw new Error(reading.why)
  return reading.value
}

const itemsOf = (...data: unknown[]) => ({ items: { data, has_more: false } })

test('a payload that says what Stripe says is no disagreement', () => {
  expect(disagreements(aRawSubscription(), liveOf())).toEqual([])
})

test.each([
  ['status', { status: 'past_due' }, 'past_due', 'active'],
  ['scheduled_end', { cancel_at: secondsOf(inDays(9)) }, inDays(9), null],
  ['scheduled_end', { cancel_at_period_end: true }, inDays(20), null],
  ['ended_at', { ended_at: secondsOf(inDays(-1)) }, inDays(-1), null],
  ['trial_end', { trial_end: secondsOf(inDays(3)) }, inDays(3), null],
  ['pause', { pause_collection: { behavior: 'void', resumes_at: null } }, 'void until resumed', null],
  ['items', itemsOf(aRawItem({ quantity: 7 })), 'price_pro x 7', 'price_pro x 3'],
  ['items', itemsOf(aRawItem({ price: { id: 'price_basic' } })), 'price_basic x 3', 'price_pro x 3'],
])('a difference of %s is a disagreement: case %#', (input, given, payload, live) => {
  expect(disagreements(aRawSubscription(given), liveOf())).toEqual([{ input, payload, live }])
})

test('a pause whose end moved is a disagreement', () => {
  const paused = (day: number) => ({
    pause_collection: { behavior: 'void', resumes_at: secondsOf(inDays(day)) },
  })

  expect(disagreements(aRawSubscription(paused(3)), liveOf(paused(4)))).toHaveLength(1)
  expect(disagreements(aRawSubscription(paused(3)), liveOf(paused(3)))).toEqual([])
})

test('several differences are all told', () => {
  const payload = aRawSubscription({ status: 'canceled', ended_at: secondsOf(inDays(-1)) })

  expect(disagreements(payload, liveOf()).map(({ input }) => input)).toEqual(['status', 'ended_at'])
})

test.each([
  [
    'the top-level plan that is null with two items',
    { plan: null, quantity: null, ...itemsOf(aRawItem(), aRawItem({ id: 'si_B', quantity: 1 })) },
    itemsOf(aRawItem({ id: 'si_B', quantity: 1 }), aRawItem()),
  ],
  [
    'a decimal object for a decimal text',
    itemsOf(aRawItem({ price: { id: 'price_pro', unit_amount_decimal: { value: 1 } } })),
    itemsOf(aRawItem({ price: { id: 'price_pro', unit_amount_decimal: '1' } })),
  ],
  ['cancel_at for the flag', { cancel_at: secondsOf(inDays(20)) }, { cancel_at_period_end: true }],
  ['the flag for cancel_at', { cancel_at_period_end: true }, { cancel_at: secondsOf(inDays(20)) }],
  ['an expanded customer', { customer: { id: 'cus_A', object: 'customer' } }, {}],
  [
    'a period on top',
    { current_period_end: secondsOf(inDays(20)), ...itemsOf(aRawItem({ current_period_end: undefined })) },
    {},
  ],
  [
    'canceled_at for ended_at',
    { status: 'canceled', ended_at: undefined, canceled_at: secondsOf(inDays(-1)) },
    { status: 'canceled', ended_at: secondsOf(inDays(-1)), canceled_at: secondsOf(inDays(-1)) },
  ],
  [
    'fields that are left out',
    {
      status: undefined,
      cancel_at: undefined,
      cancel_at_period_end: undefined,
      ended_at: undefined,
      trial_end: undefined,
      pause_collection: undefined,
      items: undefined,
    },
    {
      status: 'past_due',
      cancel_at: secondsOf(inDays(1)),
      trial_end: secondsOf(inDays(1)),
      pause_collection: { behavior: 'void' },
    },
  ],
  ['a field that cannot be read', { trial_end: 'soon' }, {}],
  [
    'metered usage with and without a quantity',
    itemsOf(aRawItem({ price: { id: 'm', recurring: { usage_type: 'metered' } }, quantity: 1 })),
    itemsOf(aRawItem({ price: { id: 'm', recurring: { usage_type: 'metered' } }, quantity: undefined })),
  ],
])('version noise is no disagreement: %s', (_, payload, live) => {
  expect(disagreements(aRawSubscription(payload), liveOf(live))).toEqual([])
})

test("a rendering of 2012 agrees with today's", () => {
  const live = liveOf({ cancel_at: secondsOf(inDays(9)), ...itemsOf(aRawItem({ price: { id: 'gold' } })) })

  expect(disagreements(aRawSubscriptionOf2012(), live)).toEqual([])
})

test('the flag of 2012 is still compared with the flag', () => {
  const live = liveOf({ cancel_at_period_end: true, ...itemsOf(aRawItem({ price: { id: 'gold' } })) })

  expect(disagreements(aRawSubscriptionOf2012(), live)).toEqual([
    { input: 'scheduled_end', payload: null, live: inDays(20) },
  ])
})

test('a flag whose period is unknown says nothing', () => {
  const raw = aRawSubscription({
    cancel_at_period_end: true,
    ...itemsOf(aRawItem({ current_period_end: undefined })),
  })

  expect(inputsOf(raw).scheduled_end).toBeUndefined()
})

test('a first page of items is compared as far as it goes', () => {
  const twelve = Array.from({ length: 12 }, (_, index) =>
    aRawItem({ id: `si_${index}`, price: { id: `price_${index}` } }),
  )
  const firstPage = { items: { data: twelve.slice(0, 10), has_more: true } }
  const [, ...others] = twelve

  expect(disagreements(aRawSubscription(firstPage), liveOf(itemsOf(...twelve)))).toEqual([])
  expect(disagreements(aRawSubscription(firstPage), liveOf(itemsOf(...others)))).toHaveLength(1)
})

test.each([
  ['an invoice', { id: 'sub_A', object: 'invoice', status: 'open' }],
  ['another subscription', aRawSubscription({ id: 'sub_B', status: 'past_due' })],
  ['nothing', null],
  ['a list', []],
])('%s disagrees with no subscription', (_, payload) => {
  expect(disagreements(payload, liveOf())).toEqual([])
})

test('the inputs of a payload are those that are present', () => {
  expect(inputsOf({ id: 'sub_A', status: 'active' })).toEqual({ status: 'active' })
  expect(inputsOf({ id: 'sub_A', ended_at: null })).toEqual({ ended_at: null })
  expect(inputsOf(aRawSubscription())).toEqual({
    status: 'active',
    scheduled_end: null,
    ended_at: null,
    trial_end: null,
    pause: null,
    items: 'price_pro x 3',
  })
})
