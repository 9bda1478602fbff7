// Status -> access, and what stops or only accompanies a decision: rules.md, sections 5 and 6, row by row.
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
  planRow,
} from './builders.ts'

const iso = (at: number) => new Date(at).toISOString()
const since = (at: number, invoiceId: string | null = 'in_A') => ({
  status: 'past_due',
  unpaid: { invoiceId, since: at },
})
const rowOf = (given: Parameters<typeof aSubscription>[0], question: Parameters<typeof decided>[1] = {}) =>
  planRow(decided([aSubscription(given)], question))

// Status

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

// Ends

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
  ['the grace end', since(inDays(-1)), inDays(6)],
  [
    "the period's end within grace",
    { ...since(inDays(-1)), items: [anItem({ periodEnd: inDays(2) })] },
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
  expect(decided([aSubscription(since(inDays(-8)))]).recheckAt).toBeNull()
})

// Grace

test('grace is over at its end, not a millisecond before', () => {
  expect(rowOf(since(inDays(-7) + 1))).toMatchObject({ state: 'grace', granted: true })
  expect(rowOf(since(inDays(-7)))).toMatchObject({
    state: 'suspended',
    granted: false,
    because: { rule: 'grace_over' },
  })
})

test('grace lasts as long as the catalog says, and why tells since when and for which invoice', () => {
  const { recheckAt, because } = rowOf(since(inDays(-1)), { catalog: aCatalog({ graceDays: 3 }) })

  expect(recheckAt).toBe(inDays(2))
  expect(because).toMatchObject({
    rule: 'grace',
    unpaidSince: iso(inDays(-1)),
    graceEndsAt: iso(inDays(2)),
    invoiceId: 'in_A',
  })
})

test('a later look at the same debt ends grace at the same time', () => {
  expect(rowOf(since(inDays(-1)), { now: inDays(5) }).recheckAt).toBe(inDays(6))
  expect(rowOf(since(inDays(-1)), { now: inDays(6) }).state).toBe('suspended')
})

test.each([
  ['never paid', { trialEnd: inDays(-10) }, { graceAfterTrial: 1 }, inDays(0.5)],
  ['paid since the trial', { trialEnd: inDays(-40) }, { graceAfterTrial: 1 }, inDays(6.5)],
  ['had no trial', {}, { graceAfterTrial: 1 }, inDays(6.5)],
  ['never paid, where the catalog makes no difference', { trialEnd: inDays(-10) }, {}, inDays(6.5)],
])('grace of one who %s', (_, given, terms, end) => {
  expect(rowOf({ ...since(inDays(-0.5)), ...given }, { catalog: aCatalog(terms) }).recheckAt).toBe(end)
})

test('no grace at all after a trial is a grace of 0 days', () => {
  const given = { ...since(NOON), trialEnd: inDays(-10) }

  expect(rowOf(given, { catalog: aCatalog({ graceAfterTrial: 0 }) }).state).toBe('suspended')
})

test('recovery restores the quantity that was bought', () => {
  const items = [anItem({ quantity: 7 })]

  expect(granted(decided([aSubscription({ ...since(inDays(-8)), items })]))).toEqual([])
  expect(granted(decided([aSubscription({ items })]))).toContain('si_A seats=7')
})

test('in payload mode a failed payment is grace before the status says so, never on incomplete', () => {
  const unpaid = { invoiceId: 'in_A', since: inDays(-1) }
  const mode = 'payload' as const

  for (const status of ['active', 'trialing', 'past_due'])
    expect(rowOf({ status, unpaid }, { mode })).toMatchObject({ state: 'grace', recheckAt: inDays(6) })
  expect(rowOf({ status: 'active', unpaid: { ...unpaid, since: inDays(-9) } }, { mode }).state).toBe(
    'suspended',
  )
  expect(rowOf({ status: 'incomplete', unpaid }, { mode }).state).toBe('pending')
  expect(rowOf({ status: 'unpaid', unpaid }, { mode }).state).toBe('suspended')
  expect(rowOf({ status: 'active', unpaid }, { mode: 'live' }).state).toBe('active')
})

test('an incomplete subscription that is allowed has no grace in payload mode', () => {
  const catalog = aCatalog({ pendingFirstPayment: 'allow' })
  const unpaid = { invoiceId: 'in_A', since: inDays(-9) }

  expect(rowOf({ status: 'incomplete', unpaid }, { mode: 'payload', catalog }).state).toBe('active')
})

// Collection paused

const paused = (behavior: string, pausedUntil: number | null, resumesAt: number | null = null) => ({
  pause: { behavior, resumesAt },
  pausedUntil,
})

test.each(['void', 'keep_as_draft', 'mark_uncollectible'])(
  'service goes on while collection is paused: %s',
  (behavior) => {
    for (const [status, state] of [
      ['active', 'active'],
      ['trialing', 'trial'],
      ['past_due', 'grace'],
    ])
      expect(
        rowOf({
          status: status ?? '',
          ...paused(behavior, inDays(-5)),
          unpaid: { invoiceId: null, since: NOON },
        }),
      ).toMatchObject({
        state,
        granted: true,
        because: { pauseBehavior: behavior },
      })
  },
)

test('a void pause suspends after the period where the catalog says so', () => {
  const catalog = aCatalog({ pausedCollection: { void: 'suspend' } })

  expect(rowOf(paused('void', NOON + 1), { catalog })).toMatchObject({ granted: true, recheckAt: NOON + 1 })
  expect(rowOf(paused('void', NOON, inDays(9)), { catalog })).toMatchObject({
    state: 'suspended',
    granted: false,
    recheckAt: inDays(9),
    because: { rule: 'collection_paused', pauseBehavior: 'void', resumesAt: iso(inDays(9)) },
  })
  expect(rowOf(paused('void', NOON), { catalog }).recheckAt).toBeNull()
  expect(rowOf(paused('keep_as_draft', NOON), { catalog }).granted).toBe(true)
  expect(rowOf(paused('void', null), { catalog }).granted).toBe(true)
})

test('a pause that is over suspends nothing', () => {
  const catalog = aCatalog({ pausedCollection: { void: 'suspend' } })

  expect(rowOf({ pause: null, pausedUntil: inDays(-5) }, { catalog }).granted).toBe(true)
})

test('a pause gives no access to what is denied', () => {
  expect(rowOf({ status: 'unpaid', ...paused('void', inDays(5)) }).granted).toBe(false)
})

// Time and deletion

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

// Items

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

    expect(granted(decided([aSubscription({ items: order })])).sort()).toEqual([
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

// Prices

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

// Unknown statuses

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

// Several subscriptions

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
      ...since(inDays(-1)),
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

// Promises of every decision

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
            if (access) expect(finalAt === null || finalAt > NOON).toBe(true)
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
