// Which plan a price buys, and how a feature is merged: rules.md, sections 5 and 6.
import { expect, test } from 'vitest'
import { mapPrice, mergeOf } from '../../src/entitlements/catalog.ts'
import { CATALOG_FILE, aCatalog, anItem } from './builders.ts'

const CATALOG = aCatalog({ ignoredPrices: ['price_gift', 'product:prod_merch'] })

test.each([
  ['its id', anItem(), { kind: 'plan', plan: 'pro', by: 'price' }],
  [
    'its id before what is remembered',
    anItem({ priceId: 'price_basic' }),
    { kind: 'plan', plan: 'basic', by: 'price' },
  ],
  [
    'what is remembered before its lookup key',
    anItem({ priceId: 'price_seen', lookupKey: 'pro_yearly' }),
    { kind: 'plan', plan: 'basic', by: 'memory' },
  ],
  [
    'its lookup key',
    anItem({ priceId: 'price_1', lookupKey: 'pro_yearly' }),
    { kind: 'plan', plan: 'pro', by: 'lookup' },
  ],
  [
    'its lookup key before its product',
    anItem({ priceId: 'price_1', lookupKey: 'pro_yearly', productId: 'prod_merch' }),
    { kind: 'plan', plan: 'pro', by: 'lookup' },
  ],
  [
    'its product',
    anItem({ priceId: 'price_1', productId: 'prod_pro' }),
    { kind: 'plan', plan: 'pro', by: 'product' },
  ],
  [
    'its product where a remembered plan is gone',
    anItem({ priceId: 'price_gone', productId: 'prod_pro' }),
    { kind: 'plan', plan: 'pro', by: 'product' },
  ],
  ['an ignored id', anItem({ priceId: 'price_gift', lookupKey: 'pro_yearly' }), { kind: 'ignored' }],
  ['an ignored product', anItem({ priceId: 'price_1', productId: 'prod_merch' }), { kind: 'ignored' }],
  ['nothing', anItem({ priceId: 'price_1', lookupKey: 'other', productId: null }), { kind: 'unmapped' }],
  ['nothing, though objects have such a field', anItem({ priceId: 'constructor' }), { kind: 'unmapped' }],
])('a price is mapped by %s', (_, item, mapping) => {
  const remembered = { price_basic: 'pro', price_seen: 'basic', price_gone: 'retired' }

  expect(mapPrice(CATALOG, remembered, item)).toEqual(mapping)
})

test.each([
  ['booleans', 'sso', 'or'],
  ['numbers', 'gigabytes', 'max'],
  ['quantities', 'seats', 'sum'],
  ['text', 'tier', 'rank'],
  ['the plan', '$plan', 'rank'],
  ['a declared merge', 'calls', 'sum'],
  ['a name that objects have', 'constructor', 'or'],
])('%s are merged as documented', (_, feature, merge) => {
  const catalog = aCatalog({
    plans: { ...CATALOG_FILE.plans, gold: { rank: 30, features: { tier: 'gold', calls: 100 } } },
    features: { calls: { merge: 'sum' }, sso: { description: 'Single sign-on' } },
  })

  expect(mergeOf(catalog, feature)).toBe(merge)
})

test('seats that one plan counts and another fixes are summed', () => {
  const plans = { ...CATALOG_FILE.plans, basic: { rank: 10, prices: [], features: { seats: 2 } } }

  expect(mergeOf(aCatalog({ plans }), 'seats')).toBe('sum')
})
