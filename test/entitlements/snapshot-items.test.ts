// Items, prices, periods and quantities in every shape since 2012: rules.md, sections 1 and 5.
import { expect, test } from 'vitest'
import { readSubscription } from '../../src/entitlements/snapshot.ts'
import {
  aRawItem,
  aRawSubscription,
  aRawSubscriptionOf2012,
  anItem,
  inDays,
  itemsOf,
  secondsOf,
  subscriptionOf,
  valueOf,
  whyOf,
} from './builders.ts'

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

test('an expanded or deleted product is read as its id', () => {
  const withProduct = (product: unknown) =>
    subscriptionOf(itemsOf(aRawItem({ price: { id: 'price_pro', product } }))).items[0]?.productId

  expect(withProduct({ id: 'prod_x', name: 'Pro' })).toBe('prod_x')
  expect(withProduct({ id: 'prod_x', deleted: true })).toBe('prod_x')
  expect(withProduct(null)).toBeNull()
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
  ['a decimal object', { quantity: undefined, quantity_decimal: { toJSON: () => '5' } }, 5, false],
])('quantity: %s', (_, given, quantity, metered) => {
  expect(subscriptionOf(itemsOf(aRawItem(given))).items[0]).toMatchObject({ quantity, metered })
})

test('part-cent prices and decimal objects are no concern of a reader', () => {
  const price = {
    id: 'p',
    unit_amount: null,
    unit_amount_decimal: { toJSON: () => '0.5' },
    product: 'prod_pro',
  }

  expect(subscriptionOf(itemsOf(aRawItem({ price }))).items[0]).toMatchObject({ priceId: 'p' })
})

test('a decimal that cannot be printed does not throw', () => {
  const raw = aRawSubscription(itemsOf(aRawItem({ quantity: undefined, quantity_decimal: { toString: 1 } })))

  expect(whyOf(readSubscription(raw))).toBe('item si_A: quantity is not a count')
})
