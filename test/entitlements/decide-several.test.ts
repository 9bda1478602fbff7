// Several subscriptions, unknown statuses, and the promises of every decision: rules.md, sections 5 and 6.
import { expect, test } from 'vitest'
import { DAY_MS } from '../../src/time.ts'
import {
  CATALOG_FILE,
  NOON,
  aCatalog,
  aSnapshot,
  aSubscription,
  anItem,
  decideAt,
  decided,
  granted,
  inDays,
  pastDueSince,
  rowOf,
} from './builders.ts'

test('an unknown status gives nothing, takes nothing and is told', () => {
  expect(decided([aSubscription({ status: 'some_future_state' })])).toEqual({
    kind: 'decided',
    entitlements: [],
    held: ['sub_A'],
    findings: [
      { code: 'unknown_subscription_status', subject: 'sub_A', detail: { status: 'some_future_state' } },
    ],
    mappings: {},
    recheckAt: null,
  })
})

test('an unknown status that has ended by date is ended', () => {
  const given = { status: 'some_future_state', endedAt: NOON }

  expect(rowOf(given)).toMatchObject({ state: 'ended', granted: false, finalAt: NOON })
  expect(decided([aSubscription(given)]).held).toEqual([])
  expect(decided([aSubscription({ ...given, endedAt: NOON + 1 })]).held).toEqual(['sub_A'])
})

test('a cancellation that was only scheduled does not judge an unknown status', () => {
  expect(decided([aSubscription({ status: 'some_future_state', cancelAt: inDays(-1) })]).held).toEqual([
    'sub_A',
  ])
})

const another = (status: string, given = {}) =>
  aSubscription({ id: 'sub_B', status, items: [anItem({ id: 'si_B', priceId: 'price_basic' })], ...given })
const quarantine = aCatalog({ subscriptions: 'quarantine' })
const both = (status: string, given = {}) =>
  aSnapshot({ subscriptions: [aSubscription(), another(status, given)] })
const AMBIGUOUS = { kind: 'blocked', reason: 'ambiguous_multi_subscription', subjects: ['sub_A', 'sub_B'] }

test.each([
  ['active', true, true],
  ['trialing', true, true],
  ['past_due', true, true],
  ['some_future_state', true, true],
  ['unpaid', false, true],
  ['paused', false, true],
  ['incomplete', false, false],
  ['incomplete_expired', false, false],
  ['canceled', false, false],
])('beside an active one, %s competes: live %s, payload %s', (status, live, payload) => {
  const snapshot = both(status)

  expect(decideAt({ snapshot, catalog: quarantine }).kind).toBe(live ? 'blocked' : 'decided')
  expect(decideAt({ snapshot, catalog: quarantine, mode: 'payload' }).kind).toBe(
    payload ? 'blocked' : 'decided',
  )
})

test('two that compete are both named, before prices are looked at', () => {
  const snapshot = both('active', { items: [anItem({ id: 'si_B', priceId: 'price_x' })] })

  expect(decideAt({ snapshot, catalog: quarantine })).toEqual(AMBIGUOUS)
})

test('union is for live mode: payload mode always asks a person', () => {
  expect(decideAt({ snapshot: both('active') }).kind).toBe('decided')
  expect(decideAt({ snapshot: both('active'), mode: 'payload' })).toEqual(AMBIGUOUS)
})

test('quarantine is what a catalog means that says nothing', () => {
  expect(decideAt({ snapshot: both('active'), catalog: aCatalog({ subscriptions: undefined }) })).toEqual(
    AMBIGUOUS,
  )
})

test('one whose scheduled end has passed competes no longer', () => {
  expect(decideAt({ snapshot: both('active', { cancelAt: NOON }), catalog: quarantine }).kind).toBe('decided')
  expect(decideAt({ snapshot: both('active', { cancelAt: NOON + 1 }), catalog: quarantine }).kind).toBe(
    'blocked',
  )
})

test('a subscription listed twice does not compete with itself', () => {
  const snapshot = aSnapshot({ subscriptions: [aSubscription(), aSubscription()] })

  expect(decideAt({ snapshot, catalog: quarantine }).kind).toBe('decided')
})

test.each(['incomplete_expired', 'canceled', 'incomplete', 'unpaid'])(
  'the end of one never removes what another grants: %s',
  (status) => {
    expect(granted(decided([another(status), aSubscription()]))).toContain('si_A $plan=pro')
  },
)

test('union gives what any of them gives', () => {
  const subscriptions = [
    another('canceled'),
    aSubscription({
      id: 'sub_C',
      ...pastDueSince(inDays(-1)),
      items: [anItem({ id: 'si_C', priceId: 'price_basic' })],
    }),
    aSubscription({ status: 'trialing', trialEnd: inDays(5) }),
  ]

  expect(granted(decided(subscriptions)).filter((row) => row.includes('$plan'))).toEqual([
    'si_C $plan=basic',
    'si_A $plan=pro',
  ])
})

test('two base plans at once are a finding under union', () => {
  expect(decided([aSubscription(), another('active')]).findings).toEqual([
    {
      code: 'double_billed',
      subject: 'cus_A',
      detail: { subscriptions: 'sub_A, sub_B', plans: 'basic, pro' },
    },
  ])
})

test.each([
  ['an add-on', another('active', { items: [anItem({ id: 'si_B', priceId: 'price_storage' })] })],
  ['a suspended plan', another('unpaid')],
  ['an ended plan', another('canceled')],
])('%s on another subscription is no double billing', (_, subscription) => {
  expect(decided([aSubscription(), subscription]).findings).toEqual([])
})

test('several items of one subscription are one bill', () => {
  const items = [anItem(), anItem({ id: 'si_B', priceId: 'price_basic' })]

  expect(decided([aSubscription({ items })]).findings).toEqual([])
})

test('access and state never contradict', () => {
  const statuses = [
    'trialing',
    'active',
    'past_due',
    'unpaid',
    'paused',
    'incomplete',
    'canceled',
    'incomplete_expired',
    'odd',
  ]
  const ends = [null, inDays(-1), inDays(1)]
  for (const status of statuses)
    for (const cancelAt of ends)
      for (const unpaidSince of ends)
        for (const pausedUntil of ends) {
          const unpaid = unpaidSince === null ? null : { invoiceId: 'in_A', since: unpaidSince - 7 * DAY_MS }
          const pause = pausedUntil === null ? null : { behavior: 'void', resumesAt: null }
          const catalog = aCatalog({ pausedCollection: { void: 'suspend' }, pendingFirstPayment: 'allow' })
          const { entitlements } = decided(
            [aSubscription({ status, cancelAt, unpaid, pause, pausedUntil })],
            { catalog },
          )

          for (const { state, granted: access, finalAt } of entitlements) {
            expect(access).toBe(['active', 'trial', 'grace'].includes(state))
            expect(access && finalAt !== null && finalAt <= NOON).toBe(false)
          }
        }
})

test('the order of subscriptions and items decides nothing', () => {
  const subscriptions = [
    aSubscription({ items: [anItem(), anItem({ id: 'si_C', priceId: 'price_storage' })] }),
    another('past_due', { unpaid: { invoiceId: 'in_A', since: inDays(-1) } }),
    aSubscription({ id: 'sub_D', status: 'odd', items: [anItem({ id: 'si_D', priceId: 'price_x' })] }),
  ]
  const turned = subscriptions.map((each) => ({ ...each, items: each.items.toReversed() })).toReversed()
  const there = decided(subscriptions)
  const back = decided(turned)

  expect(back).toEqual({ ...there, entitlements: expect.arrayContaining(there.entitlements) })
  expect(back.entitlements).toHaveLength(there.entitlements.length)
})

test('a decision changes nothing that it was given', () => {
  const question = { snapshot: both('active'), catalog: aCatalog(), remembered: {} }
  const before = structuredClone(question)

  decideAt(question)

  expect(question).toEqual(before)
  expect(CATALOG_FILE.plans.pro.prices).toHaveLength(3)
})
