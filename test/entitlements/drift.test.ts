// What counts as drift between what Stripe lists and what we last wrote: everything that decides access, nothing else.
import { expect, test } from 'vitest'
import { driftOf } from '../../src/entitlements/drift.ts'
import type { Item, Subscription } from '../../src/entitlements/model.ts'

const item: Item = {
  id: 'si_1',
  priceId: 'price_pro',
  lookupKey: null,
  productId: 'prod_1',
  quantity: 2,
  metered: false,
  periodStart: 0,
  periodEnd: 1_000,
}
const stored: Subscription = {
  id: 'sub_1',
  customerId: 'cus_1',
  status: 'active',
  startedAt: 0,
  cancelAt: null,
  cancelAtPeriodEnd: false,
  canceledAt: null,
  endedAt: null,
  trialEnd: null,
  pause: null,
  statusDetail: null,
  collection: 'charge_automatically',
  tenantId: null,
  items: [item, { ...item, id: 'si_2' }],
  unpaid: { invoiceId: 'in_1', since: 5 },
  pausedUntil: 7,
}
const WHOLE = { items: true }

test.each<[string, Partial<Subscription>, string[] | null]>([
  ['the same, without our memory', { unpaid: null, pausedUntil: null }, null],
  ['another order of items', { items: stored.items.toReversed() }, null],
  [
    'another detail, start or collection',
    { statusDetail: 'x', startedAt: 9, collection: 'send_invoice' },
    null,
  ],
  ['another status', { status: 'past_due' }, ['status']],
  ['a scheduled end', { cancelAt: 99 }, ['cancelAt']],
  ['an end with the period', { cancelAtPeriodEnd: true }, ['cancelAtPeriodEnd']],
  ['an end', { endedAt: 99 }, ['endedAt']],
  ['another trial', { trialEnd: 99 }, ['trialEnd']],
  ['a pause', { pause: { behavior: 'void', resumesAt: null } }, ['pause']],
  ['another customer', { customerId: 'cus_2' }, ['customerId']],
  [
    'other seats',
    {
      items: [
        { ...item, quantity: 3 },
        { ...item, id: 'si_2' },
      ],
    },
    ['items'],
  ],
  [
    'another price',
    {
      items: [
        { ...item, priceId: 'price_x' },
        { ...item, id: 'si_2' },
      ],
    },
    ['items'],
  ],
  [
    'another period',
    {
      items: [
        { ...item, periodEnd: 2_000 },
        { ...item, id: 'si_2' },
      ],
    },
    ['items'],
  ],
  ['an item more', { items: [...stored.items, { ...item, id: 'si_3' }] }, ['items']],
])('%s', (_, live, fields) => {
  expect(driftOf({ ...stored, ...live }, stored, WHOLE)).toEqual(
    fields === null ? null : { kind: 'differs', fields },
  )
})

test('a subscription that we never wrote, and items of which only a page was listed', () => {
  expect(driftOf(stored, null, WHOLE)).toEqual({ kind: 'unknown_subscription', fields: [] })
  expect(driftOf({ ...stored, items: [item] }, stored, { items: false })).toBeNull()
})
