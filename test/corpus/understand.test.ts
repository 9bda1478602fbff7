// The judge of recorded objects can tell what is understood from what is refused and from what is misread.
import { expect, test } from 'vitest'
import {
  aRawInvoice,
  aRawItem,
  aRawSubscription,
  aRawSubscriptionOf2012,
  inDays,
  itemsOf,
  secondsOf,
} from '../entitlements/builders.ts'
import { collectObjects } from './objects.ts'
import { indexRows } from './read.ts'
import { judgeInvoice, judgeSubscription } from './understand.ts'

const metered = { id: 'price_m', object: 'price', recurring: { usage_type: 'metered' } }

test.each([
  ['active', {}],
  ['trialing', { status: 'trialing', trial_end: secondsOf(inDays(20)) }],
  ['past due', { status: 'past_due' }],
  ['unpaid', { status: 'unpaid' }],
  ['paused', { status: 'paused' }],
  ['incomplete', { status: 'incomplete' }],
  ['never begun', { status: 'incomplete_expired', ...itemsOf() }],
  ['canceled', { status: 'canceled', ended_at: secondsOf(inDays(-1)) }],
  ['with two items', itemsOf(aRawItem(), aRawItem({ id: 'si_B', quantity: 7 }))],
  ['metered', itemsOf(aRawItem({ price: metered, quantity: undefined }))],
])('a subscription that is %s is understood', (_what, given) => {
  expect(judgeSubscription(aRawSubscription(given))).toEqual({ kind: 'understood' })
})

test('a subscription as rendered in 2012 is understood', () => {
  expect(judgeSubscription(aRawSubscriptionOf2012())).toEqual({ kind: 'understood' })
})

test.each([
  ['has no items', itemsOf(), 'no items'],
  ['has an unknown status', { status: 'on_holiday' }, 'unknown status on_holiday'],
  ['has no period end', itemsOf(aRawItem({ current_period_end: null })), 'item: no period end'],
  ['has half a seat', itemsOf(aRawItem({ quantity: 0.5 })), 'item: quantity is not a count'],
  ['has no id', { id: undefined }, 'no id'],
])('a subscription that %s is not understood', (_what, given, why) => {
  expect(judgeSubscription(aRawSubscription(given))).toEqual({ kind: 'not_understood', why })
})

test('what contradicts itself is no success: active, and yet ended before its period began', () => {
  const verdict = judgeSubscription(aRawSubscription({ cancel_at: secondsOf(inDays(-30)) }))

  expect(verdict).toMatchObject({ kind: 'misread' })
  expect(JSON.stringify(verdict)).toContain('access while active: false instead of true')
})

test.each([
  ['of today', {}],
  ['of 2015', { status: undefined, paid: true, parent: undefined, subscription: 'sub_A' }],
])('an invoice %s is understood', (_what, given) => {
  const paid = { amount_due: 2000, amount_paid: 2000, amount_remaining: 0 }
  expect(judgeInvoice(aRawInvoice({ ...paid, ...given }))).toEqual({ kind: 'understood' })
})

test.each([
  ['is a preview', { id: undefined }, 'not_understood', 'no id'],
  [
    'names its subscription in a line only',
    { parent: undefined, lines: { data: [{ id: 'sub_A', type: 'subscription' }] } },
    'not_understood',
    'its subscription: only a line names it',
  ],
  ['is paid, and is not', { status: 'paid' }, 'misread', 'paid, and something remains'],
])('an invoice that %s is no success', (_what, given, kind, why) => {
  expect(judgeInvoice(aRawInvoice(given))).toEqual({ kind, why })
})

test('objects are found at any depth, with the version of their event, and once', () => {
  const sub = { object: 'subscription', id: 'sub_A', latest_invoice: { object: 'invoice', id: 'in_A' } }
  const event = { object: 'event', api_version: '2015-10-01', data: { object: sub } }
  const file = { file: 'x', kind: 'http', version: '2026-03-25.dahlia' }

  const found = collectObjects([
    { ...file, json: { response: { body: { object: 'list', data: [sub, sub] } } } },
    { ...file, json: event },
  ])

  expect(found.map(({ kind, version }) => `${kind} ${version}`)).toEqual([
    'subscription 2026-03-25.dahlia',
    'invoice 2026-03-25.dahlia',
    'subscription 2015-10-01',
    'invoice 2015-10-01',
  ])
})

test('the index is read by the names of its columns', () => {
  expect(indexRows('file\tnotes\tapi_version\tkind\na.json\t-\t2016-03-07; beta=v3\tevent\n')).toEqual([
    { file: 'a.json', kind: 'event', version: '2016-03-07' },
  ])
})
