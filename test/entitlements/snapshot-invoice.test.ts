// From Stripe's JSON of any version to an invoice: rules.md, sections 1 and 5.
import { expect, test } from 'vitest'
import { readInvoice } from '../../src/entitlements/snapshot.ts'
import { aRawInvoice, inDays, secondsOf, valueOf, whyOf } from './builders.ts'

const invoiceOf = (given: Record<string, unknown> = {}) => valueOf(readInvoice(aRawInvoice(given)))

test('an invoice of today is read whole', () => {
  expect(invoiceOf({ collection_method: 'send_invoice', due_date: secondsOf(inDays(9)) })).toEqual({
    id: 'in_A',
    customerId: 'cus_A',
    subscriptionId: 'sub_A',
    status: 'open',
    amountDue: 2000,
    amountPaid: 500,
    amountRemaining: 1500,
    currency: 'usd',
    collection: 'send_invoice',
    billingReason: 'subscription_cycle',
    createdAt: inDays(-3),
    dueAt: inDays(9),
    finalizedAt: inDays(-2),
  })
})

test.each([
  ['in parent', {}, 'sub_A'],
  [
    'expanded in parent',
    { parent: { subscription_details: { subscription: { id: 'sub_A', object: 'subscription' } } } },
    'sub_A',
  ],
  ['nowhere', { parent: null }, null],
  ['nowhere, for a quote', { parent: { type: 'quote_details', subscription_details: null } }, null],
  ['in the legacy field', { parent: undefined, subscription: 'sub_A' }, 'sub_A'],
  ['in both', { subscription: 'sub_A' }, 'sub_A'],
  ['in the legacy field beside an empty parent', { parent: null, subscription: { id: 'sub_A' } }, 'sub_A'],
])('the subscription of an invoice stands %s', (_, given, id) => {
  expect(invoiceOf(given).subscriptionId).toBe(id)
})

test.each([
  ['no id, as invoice.upcoming has none', aRawInvoice({ id: undefined }), 'no id'],
  ['two subscriptions', aRawInvoice({ subscription: 'sub_B' }), 'contradictory subscriptions'],
  [
    'a subscription that is a customer',
    aRawInvoice({ subscription: 'cus_A' }),
    'subscription: id of wrong kind',
  ],
  [
    'a customer that is an invoice',
    aRawInvoice({ customer: { id: 'in_A', object: 'invoice' } }),
    'customer: id of wrong kind',
  ],
  ['no status', aRawInvoice({ status: null }), 'no status'],
  ['an amount as text', aRawInvoice({ amount_paid: '1.05' }), 'amount_paid: not an amount'],
  ['an amount beyond 2^53', aRawInvoice({ amount_due: 2 ** 60 }), 'amount_due: not an amount'],
  ['an object of another kind', aRawInvoice({ object: 'subscription' }), 'not of kind invoice'],
  ['no object', 'in_A', 'not an object'],
])('an invoice with %s is unrecognized', (_, raw, why) => {
  expect(whyOf(readInvoice(raw))?.split('; ')).toContain(why)
})

test('an invoice may name no customer and be of any size', () => {
  const given = {
    customer: null,
    amount_due: 99_999_999_999,
    amount_paid: 99_999_999_999,
    amount_remaining: 0,
  }

  expect(invoiceOf(given)).toMatchObject({ customerId: null, amountPaid: 99_999_999_999 })
})

test('an invoice of zero is an invoice', () => {
  const given = { status: 'paid', amount_due: 0, amount_paid: 0, amount_remaining: 0, charge: null }

  expect(invoiceOf(given)).toMatchObject({ status: 'paid', amountDue: 0, amountRemaining: 0 })
})

test.each([
  [
    'paid',
    { paid: true, closed: true, forgiven: false },
    { status: 'paid', amountPaid: 700, amountRemaining: 0 },
  ],
  ['forgiven', { paid: false, closed: true, forgiven: true }, { status: 'uncollectible', amountPaid: 0 }],
  ['open', { paid: false, closed: false, forgiven: false }, { status: 'open', amountRemaining: 700 }],
])('flags of 2012 say that an invoice is %s', (_, flags, expected) => {
  const raw = {
    id: 'in_A',
    object: 'invoice',
    customer: 'cus_A',
    date: secondsOf(inDays(-3)),
    amount_due: 700,
    ...flags,
  }

  expect(valueOf(readInvoice(raw))).toMatchObject({
    ...expected,
    createdAt: inDays(-3),
    finalizedAt: inDays(-3),
  })
})

test('a draft is not final', () => {
  expect(invoiceOf({ status: 'draft', status_transitions: { finalized_at: null } }).finalizedAt).toBeNull()
  expect(invoiceOf({ status: 'draft', status_transitions: undefined }).finalizedAt).toBeNull()
})
