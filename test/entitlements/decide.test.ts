// What a customer's items and prices give, and what stops a decision: rules.md, sections 5 and 6.
import { expect, test } from 'vitest'
import {
  aCatalog,
  aSnapshot,
  aSubscription,
  anItem,
  decideAt,
  decided,
  granted,
  inDays,
  planRow,
} from './builders.ts'

test("a customer on a test clock has the clock's time", () => {
  const snapshot = aSnapshot({
    clockAt: inDays(30),
    subscriptions: [aSubscription({ cancelAt: inDays(20) })],
  })

  expect(planRow(decided([], { snapshot })).state).toBe('ended')
  expect(
    planRow(decided([], { snapshot: { ...snapshot, clockAt: inDays(10) }, now: inDays(30) })).state,
  ).toBe('active')
})

test('deleting the customer ends everything, whatever its subscriptions say', () => {
  const statuses = ['active', 'trialing', 'past_due', 'unpaid', 'incomplete', 'canceled', 'some_future_state']
  const subscriptions = statuses.map((status) =>
    aSubscription({ id: `sub_${status}`, status, items: [anItem({ id: `si_${status}` })] }),
  )
  const decision = decideAt({
    snapshot: aSnapshot({ deleted: true, subscriptions }),
    catalog: aCatalog({ subscriptions: 'quarantine' }),
  })

  expect(decision).toMatchObject({ kind: 'decided', held: [], findings: [], recheckAt: null })
  const { entitlements } = decided(subscriptions, { snapshot: aSnapshot({ deleted: true, subscriptions }) })
  expect(new Set(entitlements.map(({ subscriptionId }) => subscriptionId)).size).toBe(statuses.length)
  for (const row of entitlements)
    expect(row).toMatchObject({ state: 'ended', granted: false, because: { rule: 'customer_deleted' } })
})

test('a deletion is decided alike at every look', () => {
  const snapshot = aSnapshot({ deleted: true })

  expect(decideAt({ snapshot })).toEqual(decideAt({ snapshot, now: inDays(1) }))
})

test('a customer without subscriptions is granted nothing', () => {
  expect(decided([])).toEqual({
    kind: 'decided',
    entitlements: [],
    held: [],
    findings: [],
    mappings: {},
    recheckAt: null,
  })
})

test('every item gives its plan, in whichever order they come', () => {
  const items = [
    anItem({ id: 'si_1', priceId: 'price_m1', metered: true, quantity: null }),
    anItem({ id: 'si_2', priceId: 'price_m2', metered: true, quantity: null }),
    anItem({ id: 'si_3', priceId: 'price_storage' }),
    anItem({ id: 'si_4', priceId: 'price_basic' }),
  ]
  for (const [a, b, c, d] of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
    [2, 0, 3, 1],
  ] as const) {
    const order = [a, b, c, d].flatMap((index) => items[index] ?? [])

    expect(granted(decided([aSubscription({ items: order })])).toSorted()).toEqual([
      'si_3 $plan=storage',
      'si_3 gigabytes=100',
      'si_4 $plan=basic',
      'si_4 export=true',
    ])
  }
})

test('seats are the quantity of each item, none is 0, metered has none', () => {
  const items = [
    anItem({ id: 'si_1', quantity: 3 }),
    anItem({ id: 'si_2', quantity: 13_580_246_790 }),
    anItem({ id: 'si_3', quantity: 0 }),
    anItem({ id: 'si_4', quantity: null, metered: true }),
  ]
  const seats = granted(decided([aSubscription({ items })])).filter((row) => row.includes('seats'))

  expect(seats).toEqual(['si_1 seats=3', 'si_2 seats=13580246790', 'si_3 seats=0'])
  expect(granted(decided([aSubscription({ items })]))).toContain('si_4 $plan=pro')
})

test('an upgrade that waits for payment changes nothing until the items change', () => {
  const basic = aSubscription({ items: [anItem({ priceId: 'price_basic' })] })

  expect(granted(decided([basic]))).toEqual(['si_A $plan=basic', 'si_A export=true'])
})

test('an unmapped price blocks, and names itself', () => {
  const items = [anItem({ priceId: 'price_x' }), anItem({ id: 'si_B', priceId: 'price_w' })]

  expect(decideAt({ snapshot: aSnapshot({ subscriptions: [aSubscription({ items })] }) })).toEqual({
    kind: 'blocked',
    reason: 'unmapped_stripe_price',
    subjects: ['price_w', 'price_x'],
  })
})

test.each([
  ['unpaid', {}],
  ['paused', {}],
  ['incomplete', {}],
  ['incomplete_expired', {}],
  ['canceled', {}],
  ['past_due', { unpaid: { invoiceId: null, since: inDays(-8) } }],
  ['active', { cancelAt: inDays(-1) }],
])('what is denied needs no mapping: %s %j', (status, given) => {
  const subscription = aSubscription({ status, ...given, items: [anItem({ priceId: 'price_x' })] })

  expect(decided([subscription])).toMatchObject({ entitlements: [], held: [], findings: [] })
})

test('an unmapped price beside a mapped one is a finding, and its rows are held', () => {
  const items = [anItem(), anItem({ id: 'si_B', priceId: 'price_x', lookupKey: 'x', productId: null })]
  const decision = decided([aSubscription({ items })])

  expect(granted(decision)).toContain('si_A $plan=pro')
  expect(decision.held).toEqual(['si_B'])
  expect(decision.findings).toEqual([
    {
      code: 'unmapped_stripe_price',
      subject: 'price_x',
      detail: { subscriptionId: 'sub_A', itemId: 'si_B', lookupKey: 'x', productId: null },
    },
  ])
})

const unmappedB = aSubscription({ id: 'sub_B', items: [anItem({ id: 'si_B', priceId: 'price_x' })] })

test('an unmapped price on another subscription is a finding', () => {
  const decision = decided([aSubscription(), unmappedB])

  expect(granted(decision)).toContain('si_A $plan=pro')
  expect(decision).toMatchObject({
    held: ['si_B'],
    findings: [{ code: 'unmapped_stripe_price', subject: 'price_x' }],
  })
})

test('an ended subscription does not make up for the unmapped one, unless the event is about the ended', () => {
  const snapshot = aSnapshot({ subscriptions: [aSubscription({ status: 'canceled' }), unmappedB] })

  expect(decideAt({ snapshot }).kind).toBe('blocked')
  expect(decideAt({ snapshot, about: 'sub_B' }).kind).toBe('blocked')
  expect(decideAt({ snapshot, about: 'sub_A' })).toMatchObject({ kind: 'decided', held: ['si_B'] })
})

test('ignored prices give nothing and block nothing', () => {
  const ignored = aSubscription({ items: [anItem({ priceId: 'price_gift' })] })

  expect(decided([ignored], { catalog: aCatalog({ ignoredPrices: ['price_gift'] }) })).toMatchObject({
    entitlements: [],
    held: [],
    findings: [],
  })
})

test('an ignored price does not make up for an unmapped one', () => {
  const items = [anItem({ priceId: 'price_gift' }), anItem({ id: 'si_B', priceId: 'price_x' })]
  const snapshot = aSnapshot({ subscriptions: [aSubscription({ items })] })

  expect(decideAt({ snapshot, catalog: aCatalog({ ignoredPrices: ['price_gift'] }) })).toMatchObject({
    kind: 'blocked',
    subjects: ['price_x'],
  })
})

test('what was found by lookup key or product is to be remembered, what was known is not', () => {
  const items = [
    anItem({ id: 'si_1', priceId: 'price_2026', lookupKey: 'pro_yearly' }),
    anItem({ id: 'si_2', priceId: 'price_odd', productId: 'prod_pro' }),
    anItem({ id: 'si_3', priceId: 'price_seen' }),
    anItem({ id: 'si_4' }),
  ]

  expect(decided([aSubscription({ items })], { remembered: { price_seen: 'basic' } }).mappings).toEqual({
    price_2026: 'pro',
    price_odd: 'pro',
  })
})

test('a price whose lookup key has moved keeps its plan, and its row does not change by being remembered', () => {
  const first = decided([
    aSubscription({ items: [anItem({ priceId: 'price_old', lookupKey: 'pro_yearly' })] }),
  ])
  const later = decided([aSubscription({ items: [anItem({ priceId: 'price_old', lookupKey: null })] })], {
    remembered: first.mappings,
  })

  expect(later.entitlements).toEqual(first.entitlements)
})
