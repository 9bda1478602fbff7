// Owed money and paused collection: rules.md, section 6.
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
  rowOf,
} from './builders.ts'

const iso = (at: number) => new Date(at).toISOString()

test('grace is over at its end, not a millisecond before', () => {
  expect(rowOf(pastDueSince(inDays(-7) + 1))).toMatchObject({ state: 'grace', granted: true })
  expect(rowOf(pastDueSince(inDays(-7)))).toMatchObject({
    state: 'suspended',
    granted: false,
    because: { rule: 'grace_over' },
  })
})

test('grace lasts as long as the catalog says, and why tells since when and for which invoice', () => {
  const { recheckAt, because } = rowOf(pastDueSince(inDays(-1)), { catalog: aCatalog({ graceDays: 3 }) })

  expect(recheckAt).toBe(inDays(2))
  expect(because).toMatchObject({
    rule: 'grace',
    unpaidSince: iso(inDays(-1)),
    graceEndsAt: iso(inDays(2)),
    invoiceId: 'in_A',
  })
})

test('a later look at the same debt ends grace at the same time', () => {
  expect(rowOf(pastDueSince(inDays(-1)), { now: inDays(5) }).recheckAt).toBe(inDays(6))
  expect(rowOf(pastDueSince(inDays(-1)), { now: inDays(6) }).state).toBe('suspended')
})

test.each([
  ['never paid', { trialEnd: inDays(-10) }, { graceAfterTrial: 1 }, inDays(0.5)],
  ['paid since the trial', { trialEnd: inDays(-40) }, { graceAfterTrial: 1 }, inDays(6.5)],
  ['had no trial', {}, { graceAfterTrial: 1 }, inDays(6.5)],
  ['never paid, where the catalog makes no difference', { trialEnd: inDays(-10) }, {}, inDays(6.5)],
])('grace of one who %s', (_, given, terms, end) => {
  expect(rowOf({ ...pastDueSince(inDays(-0.5)), ...given }, { catalog: aCatalog(terms) }).recheckAt).toBe(end)
})

test('no grace at all after a trial is a grace of 0 days', () => {
  const given = { ...pastDueSince(NOON), trialEnd: inDays(-10) }

  expect(rowOf(given, { catalog: aCatalog({ graceAfterTrial: 0 }) }).state).toBe('suspended')
})

test('recovery restores the quantity that was bought', () => {
  const items = [anItem({ quantity: 7 })]

  expect(granted(decided([aSubscription({ ...pastDueSince(inDays(-8)), items })]))).toEqual([])
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
