// Since when money is owed and until when a pause was paid, written once: rules.md, section 6.
import { expect, test } from 'vitest'
import { remember } from '../../src/entitlements/snapshot.ts'
import { NOON, aSubscription, anInvoice, anItem, inDays } from './builders.ts'

const pastDue = aSubscription({ status: 'past_due' })
const owing = (invoiceId: string | null, since: number) =>
  aSubscription({ status: 'past_due', unpaid: { invoiceId, since } })
const unpaid = (given: Partial<Parameters<typeof remember>[0]>) =>
  remember({ previous: null, current: pastDue, openInvoices: [], now: NOON, ...given }).unpaid

test('money is owed since the oldest open invoice was finalised', () => {
  const openInvoices = [
    anInvoice({ id: 'in_2', finalizedAt: inDays(-1) }),
    anInvoice({ id: 'in_1', finalizedAt: inDays(-31) }),
    anInvoice({ id: 'in_3', finalizedAt: inDays(-2) }),
  ]

  expect(unpaid({ openInvoices })).toEqual({ invoiceId: 'in_1', since: inDays(-31) })
})

test('a sent invoice is owed since its due date', () => {
  const openInvoices = [
    anInvoice({ collection: 'send_invoice', finalizedAt: inDays(-40), dueAt: inDays(-10) }),
  ]

  expect(unpaid({ openInvoices })).toEqual({ invoiceId: 'in_A', since: inDays(-10) })
})

test('a due date on a charged invoice is not what counts', () => {
  expect(unpaid({ openInvoices: [anInvoice({ dueAt: inDays(9), finalizedAt: inDays(-3) })] })?.since).toBe(
    inDays(-3),
  )
})

test('a sent invoice is due at its due date, not before', () => {
  const sent = (dueAt: number) => [anInvoice({ collection: 'send_invoice', finalizedAt: inDays(-40), dueAt })]

  expect(unpaid({ openInvoices: sent(NOON) })).toEqual({ invoiceId: 'in_A', since: NOON })
  expect(unpaid({ openInvoices: sent(NOON + 1) })).toEqual({ invoiceId: null, since: NOON })
})

test.each([
  ['of another subscription', anInvoice({ subscriptionId: 'sub_B' })],
  ['that is paid', anInvoice({ status: 'paid' })],
  ['that is void', anInvoice({ status: 'void' })],
  ['with nothing remaining', anInvoice({ amountRemaining: 0 })],
])('an invoice %s is not owed', (_, invoice) => {
  expect(unpaid({ openInvoices: [invoice] })).toEqual({ invoiceId: null, since: NOON })
})

test('without an open invoice money is owed since past_due was first seen, whenever it is looked at', () => {
  expect(unpaid({ now: inDays(5), previous: owing(null, NOON) })).toEqual({ invoiceId: null, since: NOON })
})

test('a second look, a retry or a requeue never restarts it', () => {
  const openInvoices = [anInvoice({ id: 'in_1', finalizedAt: inDays(-2) })]

  expect(unpaid({ previous: owing('in_1', inDays(-4)), openInvoices })).toEqual({
    invoiceId: 'in_1',
    since: inDays(-4),
  })
})

test('it is computed anew when its invoice is no longer open', () => {
  const openInvoices = [anInvoice({ id: 'in_2', finalizedAt: inDays(-2) })]

  expect(unpaid({ previous: owing('in_1', inDays(-40)), openInvoices })).toEqual({
    invoiceId: 'in_2',
    since: inDays(-2),
  })
  expect(unpaid({ previous: owing('in_1', inDays(-40)) })).toEqual({ invoiceId: null, since: NOON })
})

test('an invoice that is found later takes the place of the first sight', () => {
  const openInvoices = [anInvoice({ id: 'in_1', finalizedAt: inDays(-2) })]

  expect(unpaid({ previous: owing(null, inDays(-1)), openInvoices })).toEqual({
    invoiceId: 'in_1',
    since: inDays(-2),
  })
})

test('recovery clears it, and a new delinquency starts a new one', () => {
  const recovered = remember({
    previous: owing('in_1', inDays(-4)),
    current: aSubscription(),
    openInvoices: [anInvoice()],
    now: NOON,
  })

  expect(recovered.unpaid).toBeNull()
  expect(unpaid({ previous: recovered, now: inDays(40) })).toEqual({ invoiceId: null, since: inDays(40) })
})

test('a subscription that is unpaid or canceled owes nothing that could give grace', () => {
  for (const status of ['unpaid', 'canceled', 'incomplete', 'active'])
    expect(unpaid({ current: aSubscription({ status }), openInvoices: [anInvoice()] })).toBeNull()
})

const pause = { behavior: 'void', resumesAt: null }
const pausedUntil = (
  previous: ReturnType<typeof aSubscription> | null,
  current: ReturnType<typeof aSubscription>,
) => remember({ previous, current, openInvoices: [], now: NOON }).pausedUntil

test('a pause lasts from the earliest period that was running when it was first seen', () => {
  const items = [anItem({ periodEnd: inDays(300) }), anItem({ id: 'si_B', periodEnd: inDays(20) })]
  const first = aSubscription({ pause, items, pausedUntil: inDays(20) })
  const later = aSubscription({ pause, items: [anItem({ periodEnd: inDays(50) })] })

  expect(pausedUntil(null, aSubscription({ pause, items }))).toBe(inDays(20))
  expect(pausedUntil(aSubscription({ items }), aSubscription({ pause, items }))).toBe(inDays(20))
  expect(pausedUntil(first, later)).toBe(inDays(20))
})

test('a pause that is over is forgotten, and the next one starts anew', () => {
  const resumed = aSubscription({ items: [anItem({ periodEnd: inDays(50) })] })

  expect(pausedUntil(aSubscription({ pause, pausedUntil: inDays(20) }), resumed)).toBeNull()
  expect(pausedUntil({ ...resumed, pausedUntil: inDays(20) }, { ...resumed, pause })).toBe(inDays(50))
})

test('remembering changes nothing else', () => {
  const current = aSubscription({ status: 'past_due', pause })

  expect({
    ...remember({ previous: null, current, openInvoices: [], now: NOON }),
    unpaid: null,
    pausedUntil: null,
  }).toEqual(current)
})
