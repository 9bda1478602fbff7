// Status -> access, and when it ends or must be read again: rules.md, section 6, row by row.
import { expect, test } from 'vitest'
import {
  NOON,
  aCatalog,
  aSubscription,
  anItem,
  decided,
  granted,
  inDays,
  pastDueSince,
  planRow,
  rowOf,
} from './builders.ts'

test.each([
  ['trialing', { trialEnd: inDays(5) }, 'trial', true],
  ['active', {}, 'active', true],
  ['past_due', { unpaid: { invoiceId: 'in_A', since: inDays(-1) } }, 'grace', true],
  ['past_due', { unpaid: { invoiceId: 'in_A', since: inDays(-8) } }, 'suspended', false],
  ['unpaid', {}, 'suspended', false],
  ['paused', {}, 'suspended', false],
  ['incomplete', {}, 'pending', false],
  ['canceled', { endedAt: inDays(-1) }, 'ended', false],
])('%s %j is %s, access %s', (status, given, state, access) => {
  const { entitlements } = decided([aSubscription({ status, ...given })])

  expect(entitlements.map(({ feature }) => feature)).toEqual(['$plan', 'export', 'sso', 'seats'])
  for (const row of entitlements) expect(row).toMatchObject({ state, granted: access })
})

test('incomplete_expired gives no row at all', () => {
  expect(decided([aSubscription({ status: 'incomplete_expired' })]).entitlements).toEqual([])
})

test('a row says what it gives, from when until when, and why', () => {
  const { entitlements } = decided([aSubscription({ items: [anItem({ quantity: 5 })] })])

  expect(entitlements.at(-1)).toEqual({
    feature: 'seats',
    value: 5,
    subscriptionId: 'sub_A',
    itemId: 'si_A',
    plan: 'pro',
    rank: 20,
    state: 'active',
    granted: true,
    from: inDays(-100),
    finalAt: null,
    recheckAt: inDays(20),
    because: {
      rule: 'active',
      status: 'active',
      subscriptionId: 'sub_A',
      itemId: 'si_A',
      priceId: 'price_pro',
    },
  })
  expect(planRow({ entitlements })).toMatchObject({ feature: '$plan', value: 'pro' })
})

test('why names the end of the trial, the request or the failed payment behind a pause', () => {
  for (const statusDetail of ['trial_end_without_payment_method', 'pause_requested', 'final_payment_failure'])
    expect(rowOf({ status: 'paused', statusDetail }).because).toMatchObject({ rule: 'paused', statusDetail })
})

test('a pause is lifted as soon as the status says so', () => {
  expect(granted(decided([aSubscription({ status: 'paused' })]))).toEqual([])
  expect(granted(decided([aSubscription()]))).toContain('si_A $plan=pro')
})

test('a trial end that is still ahead gives nothing once it is canceled', () => {
  expect(rowOf({ status: 'canceled', endedAt: NOON, trialEnd: inDays(10) })).toMatchObject({
    granted: false,
    state: 'ended',
  })
})

test('a trial that has long ended bounds nothing', () => {
  expect(rowOf({ trialEnd: inDays(-60) })).toMatchObject({ state: 'active', recheckAt: inDays(20) })
})

test('an incomplete first payment gives access where the catalog allows delayed methods', () => {
  const catalog = aCatalog({ pendingFirstPayment: 'allow' })

  expect(rowOf({ status: 'incomplete' }, { catalog })).toMatchObject({
    state: 'active',
    granted: true,
    because: { rule: 'first_payment_allowed', status: 'incomplete' },
  })
  expect(rowOf({ status: 'unpaid' }, { catalog }).granted).toBe(false)
})

test.each([
  ['ended_at', { status: 'canceled', endedAt: inDays(-2) }, inDays(-2)],
  ['ended_at, before the paid period is over', { status: 'canceled', endedAt: NOON }, NOON],
  ['nothing that is known', { status: 'canceled' }, null],
  [
    'ended_at, not what had been scheduled',
    { status: 'canceled', endedAt: inDays(-2), cancelAt: inDays(-5) },
    inDays(-2),
  ],
])('a canceled subscription ended at %s', (_, given, finalAt) => {
  expect(rowOf(given)).toMatchObject({ state: 'ended', granted: false, finalAt, recheckAt: null })
})

test("canceled is denied even where Stripe's clock is ahead of ours", () => {
  expect(rowOf({ status: 'canceled', endedAt: NOON + 5_000 })).toMatchObject({
    state: 'ended',
    granted: false,
  })
})

const twoIntervals = [
  anItem({ periodEnd: inDays(300) }),
  anItem({ id: 'si_B', priceId: 'price_basic', periodEnd: inDays(20) }),
]

test.each([
  ['cancel_at', { cancelAt: inDays(20) }, inDays(20)],
  ['the period, by the flag', { cancelAtPeriodEnd: true }, inDays(20)],
  ['cancel_at before the period, flag unset', { cancelAt: inDays(9) }, inDays(9)],
  ['cancel_at where both are set', { cancelAt: inDays(30), cancelAtPeriodEnd: true }, inDays(30)],
  ["the earliest item's period, by the flag", { cancelAtPeriodEnd: true, items: twoIntervals }, inDays(20)],
  ['ended_at where it is earlier', { cancelAt: inDays(30), endedAt: inDays(10) }, inDays(10)],
  ['cancel_at where it is earlier', { cancelAt: inDays(9), endedAt: inDays(10) }, inDays(9)],
  ['nothing after un-cancelling', {}, null],
])('access ends at %s', (_, given, finalAt) => {
  for (const row of decided([aSubscription(given)]).entitlements)
    expect(row).toMatchObject({ granted: true, finalAt })
})

test.each(['trialing', 'active', 'past_due'])(
  'a scheduled cancellation ends a %s subscription, too',
  (status) => {
    expect(rowOf({ status, cancelAt: inDays(3), unpaid: { invoiceId: null, since: NOON } })).toMatchObject({
      granted: true,
      finalAt: inDays(3),
    })
  },
)

test('a final end has passed at that instant, not a millisecond before', () => {
  expect(rowOf({ cancelAt: NOON + 1 })).toMatchObject({ state: 'active', granted: true })
  expect(rowOf({ cancelAt: NOON })).toMatchObject({
    state: 'ended',
    granted: false,
    finalAt: NOON,
    because: { rule: 'final_end' },
  })
})

test('un-cancelling clears the end', () => {
  expect(rowOf({ canceledAt: inDays(-3) })).toMatchObject({ granted: true, finalAt: null })
})

test.each([
  ["the paid period's end", {}, inDays(20)],
  ["the trial's end", { status: 'trialing', trialEnd: inDays(5) }, inDays(5)],
  ['the period, where a trial outlasts it', { status: 'trialing', trialEnd: inDays(40) }, inDays(20)],
  ['the grace end', pastDueSince(inDays(-1)), inDays(6)],
  [
    "the period's end within grace",
    { ...pastDueSince(inDays(-1)), items: [anItem({ periodEnd: inDays(2) })] },
    inDays(2),
  ],
  ['the resumption', { pause: { behavior: 'keep_as_draft', resumesAt: inDays(4) } }, inDays(4)],
  [
    'the period, where the resumption is later',
    { pause: { behavior: 'keep_as_draft', resumesAt: inDays(40) } },
    inDays(20),
  ],
])('access must be read again at %s', (_, given, recheckAt) => {
  expect(rowOf(given)).toMatchObject({ granted: true, finalAt: null, recheckAt })
  expect(decided([aSubscription(given)]).recheckAt).toBe(recheckAt)
})

test('past a recheck end nobody is locked out by time alone', () => {
  expect(rowOf({ items: [anItem({ periodEnd: inDays(-2) })] })).toMatchObject({
    granted: true,
    recheckAt: inDays(-2),
  })
  expect(rowOf({ status: 'trialing', trialEnd: inDays(-2) })).toMatchObject({
    state: 'trial',
    granted: true,
    recheckAt: inDays(-2),
  })
})

test('each entitlement takes its paid-through date from its own item', () => {
  const decision = decided([aSubscription({ items: twoIntervals })])

  expect(planRow(decision, 'si_A').recheckAt).toBe(inDays(300))
  expect(planRow(decision, 'si_B').recheckAt).toBe(inDays(20))
  expect(decision.recheckAt).toBe(inDays(20))
})

test('what is denied need not be read again', () => {
  for (const status of ['unpaid', 'paused', 'incomplete']) expect(rowOf({ status }).recheckAt).toBeNull()
  expect(decided([aSubscription(pastDueSince(inDays(-8)))]).recheckAt).toBeNull()
})
