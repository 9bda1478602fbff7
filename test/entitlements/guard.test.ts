// The rules of payload mode: rules.md, section 4, and the rows of section 5 that are about invoices; one row a sentence.
import { expect, test } from 'vitest'
import {
  judgeOutcome,
  judgeReport,
  joinOutcomes,
  paidThroughOf,
  roleOf,
  settleReport,
  sourceOf,
  waitsForLink,
  type InvoiceOutcome,
  type Payment,
  type Report,
  type Told,
} from '../../src/entitlements/guard.ts'
import { aSubscription, anItem, inDays, NOON, secondsOf } from './builders.ts'

const SECOND = 1_000
const report = (told: Told, at: number, status = 'active'): Report => ({
  told,
  at: NOON + at * SECOND,
  subscription: aSubscription({ status }),
})
const outcome = (payment: Payment, at: number, given: Partial<InvoiceOutcome> = {}): InvoiceOutcome => ({
  payment,
  at: NOON + at * SECOND,
  invoiceId: 'in_A',
  paidThrough: {},
  ...given,
})

const STALE = 'discard stale_subscription_event'
const AMBIGUOUS = 'quarantine ambiguous_subscription_order'

test.each<[string, Report, Report | null, string]>([
  ['the first report is applied', report('changed', 0), null, 'apply'],
  ['a newer one is applied', report('changed', 1), report('changed', 0), 'apply'],
  ['an older one is stale', report('changed', 0), report('changed', 1), STALE],
  ['of the same second and content, it repeats', report('changed', 0), report('changed', 0), 'repeat'],
  ['of the same second, it contradicts', report('changed', 0, 'past_due'), report('changed', 0), AMBIGUOUS],
  ['an older contradiction is stale', report('changed', 0, 'past_due'), report('changed', 1), STALE],
  ['created comes before a change', report('created', 0, 'incomplete'), report('changed', 0), STALE],
  ['created needs no clock', report('created', 9, 'incomplete'), report('changed', 0), STALE],
  ['a change follows created', report('changed', 0), report('created', 0, 'incomplete'), 'apply'],
  ['a change follows created by any clock', report('changed', 0), report('created', 9), 'apply'],
  ['deleted follows a change', report('deleted', 0, 'canceled'), report('changed', 0), 'apply'],
  ['deleted needs no clock', report('deleted', 0, 'canceled'), report('changed', 9), 'apply'],
  ['nothing follows deleted', report('changed', 9), report('deleted', 0, 'canceled'), STALE],
  ['deleted twice repeats', report('deleted', 0, 'canceled'), report('deleted', 0, 'canceled'), 'repeat'],
  ['created twice, otherwise', report('created', 0), report('created', 0, 'incomplete'), AMBIGUOUS],
])('reports: %s', (_sentence, event, newest, verdict) => {
  const said = judgeReport(event, newest)

  expect('reason' in said ? `${said.kind} ${said.reason}` : said.kind).toBe(verdict)
})

test.each<[string, InvoiceOutcome, InvoiceOutcome | null, string]>([
  ['the first payment counts', outcome('failed', 0), null, 'apply'],
  ['a newer one counts', outcome('paid', 1), outcome('failed', 0), 'apply'],
  ['an older failure is stale', outcome('failed', 0), outcome('paid', 1), 'discard stale_invoice_event'],
  ['an older payment is stale', outcome('paid', 0), outcome('failed', 1), 'discard stale_invoice_event'],
  ['older and alike is stale', outcome('failed', 0), outcome('failed', 1), 'discard stale_invoice_event'],
  ['two paid within a second agree', outcome('paid', 0), outcome('paid', 0), 'apply'],
  [
    'paid, after failed of the same second, is ambiguous',
    outcome('paid', 0),
    outcome('failed', 0),
    'quarantine ambiguous_invoice_order',
  ],
  [
    'failed, after paid of the same second, is ambiguous',
    outcome('failed', 0, { invoiceId: 'in_B' }),
    outcome('paid', 0),
    'quarantine ambiguous_invoice_order',
  ],
])('payments: %s', (_sentence, event, newest, verdict) => {
  const said = judgeOutcome(event, newest)

  expect('reason' in said ? `${said.kind} ${said.reason}` : said.kind).toBe(verdict)
})

const LIVE = { id: 'sub_A', lives: true }
const ENDED = { id: 'sub_A', lives: false }

test.each<[string, string | null, { id: string; lives: boolean }[], boolean, string]>([
  ['a one-off invoice is noted', null, [LIVE], false, 'none'],
  ['of the one that lives is its own', 'sub_A', [LIVE], false, 'own'],
  ['of one that has ended is its own, as long as none lives', 'sub_A', [ENDED], false, 'own'],
  [
    'of an ended one, while another lives',
    'sub_A',
    [ENDED, { id: 'sub_B', lives: true }],
    false,
    'quarantine',
  ],
  ['of one that is not recorded, while another lives', 'sub_B', [LIVE], false, 'quarantine'],
  ['of one that is not recorded waits, as long as none lives', 'sub_B', [ENDED], false, 'wait'],
  ['of one that is not recorded waits where there is none', 'sub_B', [], false, 'wait'],
  ["of another customer's subscription is foreign", 'sub_B', [], true, 'quarantine'],
  ["of another customer's, while one lives, is foreign", 'sub_B', [LIVE], true, 'quarantine'],
])('an invoice: %s', (_sentence, subscriptionId, recorded, ofAnother, kind) => {
  expect(sourceOf(subscriptionId, recorded, ofAnother).kind).toBe(kind)
})

test('each answer about an invoice has its reason code', () => {
  expect(sourceOf(null, [], false)).toMatchObject({ reason: 'invoice_without_subscription' })
  expect(sourceOf('sub_B', [], false)).toMatchObject({ reason: 'subscription_not_linked' })
  expect(sourceOf('sub_B', [LIVE], false)).toMatchObject({ reason: 'ambiguous_invoice_subscription' })
})

// [what, reported status, seconds after the payment at which it was reported, payment, status then, in grace then]
test.each<[string, string, number, Payment, string, boolean]>([
  ['a failure opens grace on active', 'active', -1, 'failed', 'active', true],
  ['a failure opens grace on trialing', 'trialing', -1, 'failed', 'trialing', true],
  ['a failure opens grace on past_due', 'past_due', -1, 'failed', 'past_due', true],
  ['a failure opens none on incomplete', 'incomplete', -1, 'failed', 'incomplete', false],
  ['a failure opens none on unpaid', 'unpaid', -1, 'failed', 'unpaid', false],
  ['an active report of the same second does not end the grace', 'active', 0, 'failed', 'active', true],
  ['a later active report ends the grace', 'active', 1, 'failed', 'active', false],
  ['a later past_due keeps the grace', 'past_due', 1, 'failed', 'past_due', true],
  ['a payment ends the grace of past_due', 'past_due', -1, 'paid', 'active', false],
  ['past_due of the same second does not undo a payment', 'past_due', 0, 'paid', 'active', false],
  ['a later past_due opens grace again', 'past_due', 1, 'paid', 'past_due', true],
  ['a payment never lifts unpaid', 'unpaid', -1, 'paid', 'unpaid', false],
  ['a payment never lifts paused', 'paused', -1, 'paid', 'paused', false],
  ['a payment never lifts canceled', 'canceled', -1, 'paid', 'canceled', false],
  ['a payment does not complete incomplete', 'incomplete', -1, 'paid', 'incomplete', false],
])('%s', (_sentence, status, seconds, payment, then, inGrace) => {
  const settled = settleReport(report('changed', seconds, status), outcome(payment, 0), null)

  expect([settled.status, settled.unpaid !== null]).toEqual([then, inGrace])
})

test('grace begins once: neither a retry nor a later report begins it anew, whichever arrives first', () => {
  const first = settleReport(report('changed', -9), outcome('failed', 0), null)
  const again = settleReport(report('changed', -9), outcome('failed', 100), first)
  const told = settleReport(report('changed', 200, 'past_due'), outcome('failed', 100), again)

  expect(told.unpaid).toEqual({ invoiceId: 'in_A', since: NOON })

  const late = settleReport(report('changed', 50, 'past_due'), null, null)
  expect(settleReport(report('changed', 50, 'past_due'), outcome('failed', 0), late).unpaid).toEqual({
    invoiceId: 'in_A',
    since: NOON,
  })
  expect(settleReport(report('changed', 50, 'past_due'), outcome('failed', 90), late).unpaid?.since).toBe(
    NOON + 50 * SECOND,
  )
})

test('a payment after the trial makes it active; one within the trial does not', () => {
  const trial: Report = {
    ...report('changed', -9),
    subscription: aSubscription({ status: 'trialing', trialEnd: NOON }),
  }

  expect(settleReport(trial, outcome('paid', 0), null).status).toBe('active')
  expect(settleReport(trial, outcome('paid', -1), null).status).toBe('trialing')
})

test("a payment extends the period to its line's end, of the item that the line names, and never shortens it", () => {
  const subscription = aSubscription({ items: [anItem(), anItem({ id: 'si_B', periodEnd: inDays(40) })] })
  const ends = (paidThrough: Record<string, number>, at = 0, given = subscription) =>
    settleReport(
      { ...report('changed', 0), subscription: given },
      outcome('paid', at, { paidThrough }),
      null,
    ).items.map(({ periodEnd }) => periodEnd)

  expect(ends({ si_A: inDays(50), si_B: inDays(30) })).toEqual([inDays(50), inDays(40)])
  expect(ends({ '': inDays(50) })).toEqual([inDays(20), inDays(40)])
  expect(ends({ '': inDays(50) }, 0, aSubscription())).toEqual([inDays(50)])
  // A later report tells the period itself.
  expect(ends({ si_A: inDays(50) }, -1)).toEqual([inDays(20), inDays(40)])
})

test('what was paid for stays paid for, also when the next payment fails, until a report tells the period', () => {
  const before = outcome('paid', 0, { paidThrough: { si_A: inDays(50) } })
  const joined = joinOutcomes(
    outcome('paid', 1, { paidThrough: { si_A: inDays(30), si_B: inDays(40) } }),
    before,
    0,
  )
  const failed = joinOutcomes(outcome('failed', 2), joined, 0)

  expect(joined).toMatchObject({ at: NOON + SECOND, paidThrough: { si_A: inDays(50), si_B: inDays(40) } })
  expect(settleReport(report('changed', -9), failed, null).items[0]?.periodEnd).toBe(inDays(50))
  expect(joinOutcomes(outcome('failed', 9), joined, NOON + 5 * SECOND).paidThrough).toEqual({})
})

const period = { start: secondsOf(NOON), end: secondsOf(inDays(30)) }
test.each<[string, unknown, Record<string, number>]>([
  [
    'since 2025',
    {
      parent: { type: 'subscription_item_details', subscription_item_details: { subscription_item: 'si_A' } },
      period,
    },
    { si_A: inDays(30) },
  ],
  ['of 2020', { type: 'subscription', subscription_item: 'si_A', period }, { si_A: inDays(30) }],
  ['of 2012', { type: 'subscription', id: 'sub_A', period }, { '': inDays(30) }],
  ['of something sold beside', { type: 'invoiceitem', period }, {}],
  ['without a period', { type: 'subscription', subscription_item: 'si_A' }, {}],
  ['that is none', null, {}],
])('a line %s tells what was paid for', (_version, line, ends) => {
  expect(paidThroughOf({ lines: { object: 'list', data: [line] } })).toEqual(ends)
  expect(paidThroughOf({ lines: line })).toEqual({})
})

test.each([
  ['customer.subscription.created', 'report created', true],
  ['customer.subscription.updated', 'report changed', true],
  ['customer.subscription.paused', 'report changed', true],
  ['customer.subscription.resumed', 'report changed', true],
  ['customer.subscription.deleted', 'report deleted', true],
  ['customer.subscription.trial_will_end', 'record', false],
  ['customer.subscription.pending_update_applied', 'record', false],
  ['invoice.paid', 'outcome paid', true],
  ['invoice.payment_failed', 'outcome failed', true],
  ['invoice.payment_succeeded', 'record', false],
  ['invoice.voided', 'record', false],
  ['checkout.session.completed', 'record', true],
  ['customer.deleted', 'deletion', false],
  ['customer.updated', 'record', false],
])('%s is a %s; without a tenant it waits: %s', (type, role, waits) => {
  expect([Object.values(roleOf(type)).join(' '), waitsForLink(type)]).toEqual([role, waits])
})
