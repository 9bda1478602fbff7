// The checks can fail: each way in which a double drifts from Stripe is caught, and told by name.
import { beforeAll, expect, test } from 'vitest'
import { startStripeSim, type Shop, type StripeEvent } from '../sim.ts'
import { main } from '../testing.ts'
import { UNDOCUMENTED } from './allowlist.ts'
import { openHonesty, type Honesty } from './check.ts'

type Hash = Record<string, unknown>

let honesty: Honesty
let shop: Shop
let subscription: Hash
beforeAll(async () => {
  honesty = openHonesty()
  const sim = await startStripeSim({ accounts: [main] })
  shop = sim.account('default')
  shop.price({ id: 'price_pro' })
  const sold = shop.checkout({ tenant: 't1', items: [{ price: 'price_pro', quantity: 3 }] })
  shop.updateSubscription(sold.subscription?.id ?? '', { quantity: 4 })
  subscription = shop.subscription(sold.subscription?.id ?? '')
  return () => sim.close()
}, 60_000)

const without = (key: string) =>
  Object.fromEntries(Object.entries(subscription).filter(([name]) => name !== key))

// The first one compiles the schemas.
test('what the double says passes', { timeout: 60_000 }, () => {
  expect(honesty.objectProblems(subscription)).toEqual([])
  expect(shop.events().flatMap((event) => honesty.objectProblems(event))).toEqual([])
})

test.each<[string, () => Hash, RegExp]>([
  ['items dropped', () => without('items'), /must have required property 'items'/],
  ['a status that is none', () => ({ ...subscription, status: 'activ' }), /^status: .*trialing/],
  [
    'the period on top, as before basil',
    () => ({ ...subscription, current_period_end: 1 }),
    /additional properties \(current_period_end\)/,
  ],
  ['a time as text', () => ({ ...subscription, created: '1' }), /^created: must be number/],
  ['null where nothing is null', () => ({ ...subscription, customer: null }), /^customer/],
  ['a price without its currency', () => withPrice({ currency: undefined }), /required property 'currency'/],
  [
    'an amount that is no decimal',
    () => withPrice({ unit_amount_decimal: 'ten' }),
    /unit_amount_decimal: must match/,
  ],
  ['a price with a field too many', () => withPrice({ colour: 'red' }), /additional properties \(colour\)/],
  ['an object that is none', () => ({ ...subscription, object: 'abonnement' }), /knows no "abonnement"/],
])('a subscription with %s is caught', (_what, lie, told) => {
  expect(honesty.objectProblems(lie()).join('\n')).toMatch(told)
})

function withPrice(over: Hash): Hash {
  const copy = structuredClone(subscription) as { items: { data: { price: Hash }[] } } & Hash
  for (const item of copy.items.data) {
    item.price = JSON.parse(JSON.stringify({ ...item.price, ...over })) as Hash
  }
  return copy
}

const updated = () =>
  shop.events().findLast(({ type }) => type === 'customer.subscription.updated') as StripeEvent

test.each<[string, () => Hash, RegExp]>([
  ['a type that is none', () => ({ ...updated(), type: 'customer.subscription.upgraded' }), /knows no event/],
  ['another object than its type says', () => ({ ...updated(), type: 'invoice.paid' }), /data\.object/],
  ['a request that is text', () => ({ ...updated(), request: 'req_1' }), /^request/],
  ['a change of what does not exist', () => changed({ seats: 3 }), /additional properties \(seats\)/],
  ['a change of the wrong kind', () => changed({ quantity: 'three' }), /previous_attributes\.quantity/],
])('an event with %s is caught', (_what, lie, told) => {
  expect(honesty.objectProblems(lie()).join('\n')).toMatch(told)
})

function changed(previous: Hash): Hash {
  return { ...updated(), data: { ...updated().data, previous_attributes: previous } }
}

test('a list is a frame around objects, each of them checked', () => {
  const list = (over: Hash) => ({
    object: 'list',
    data: [subscription],
    has_more: false,
    url: '/v1/x',
    ...over,
  })

  expect(honesty.objectProblems(list({}))).toEqual([])
  expect(honesty.objectProblems(list({ data: [without('items')] })).join()).toMatch(/^data\.0\./)
  expect(honesty.objectProblems(list({ next_page: 'x' })).join()).toMatch(/a list of data/)
})

test.each([
  [
    'a parameter that does not exist',
    { customer: 'cus_1', colour: 'red' },
    { param: 'colour', kind: 'unknown' },
  ],
  [
    'one inside a list',
    { items: { 0: { price: 'p', seats: '3' } } },
    { param: 'items[0][seats]', kind: 'unknown' },
  ],
  ['a word that is none', { collection_method: 'cash' }, { param: 'collection_method', kind: 'invalid' }],
  ['a number that is none', { trial_period_days: 'ten' }, { param: 'trial_period_days', kind: 'invalid' }],
])('%s is refused by name', (_what, params, problem) => {
  expect(honesty.paramProblems('POST', '/v1/subscriptions', params)).toContainEqual(problem)
})

test('what the SDK can send passes, and paths that it lacks are not judged', () => {
  const params = {
    customer: 'cus_1',
    items: { 0: { price: 'p', quantity: '3' } },
    metadata: { tenant_id: 't' },
    trial_end: 'now',
  }

  expect(honesty.paramProblems('POST', '/v1/subscriptions', params)).toEqual([])
  expect(honesty.paramProblems('POST', '/v1/subscriptions/:id', { metadata: '' })).toEqual([])
  expect(honesty.paramProblems('POST', '/v1/payment_pages/:id/confirm', {})).toBeNull()
})

test('no allowance is idle: the SDK does not know the field, and the double says it', () => {
  const said = JSON.stringify([subscription, ...shop.events()])
  for (const { field } of UNDOCUMENTED) expect(said).toContain(`"${field}"`)
  const bare = openHonesty(undefined, [])

  expect(bare.objectProblems(subscription).join()).toMatch(/additional properties/)
})
