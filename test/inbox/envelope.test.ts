// What is known of an event by its envelope alone, and what refunds it reports (rules.md section 1).
import { expect, test } from 'vitest'
import { readEnvelope, settledAtReceipt, topicOf } from '../../src/inbox/envelope.ts'
import { reportedMoneyBack } from '../../src/inbox/money-back.ts'
import { anEvent } from '../harness/event.ts'

test.each([
  ['checkout.session.completed', 'checkout'],
  ['checkout.session.async_payment_succeeded', 'checkout'],
  ['checkout.session.async_payment_failed', 'checkout'],
  ['checkout.session.expired', null],
  ['customer.subscription.created', 'subscription'],
  ['customer.subscription.updated', 'subscription'],
  ['customer.subscription.deleted', 'subscription'],
  ['customer.subscription.paused', 'subscription'],
  ['customer.subscription.resumed', 'subscription'],
  ['customer.subscription.trial_will_end', 'subscription'],
  ['customer.subscription.pending_update_applied', 'subscription'],
  ['customer.subscription.pending_update_expired', 'subscription'],
  ['invoice.paid', 'invoice'],
  ['invoice.payment_succeeded', 'invoice'],
  ['invoice.payment_failed', 'invoice'],
  ['invoice.payment_action_required', 'invoice'],
  ['invoice.finalized', 'invoice'],
  ['invoice.finalization_failed', 'invoice'],
  ['invoice.voided', 'invoice'],
  ['invoice.marked_uncollectible', 'invoice'],
  ['invoice.overdue', 'invoice'],
  ['invoice.created', null],
  ['invoice.upcoming', null],
  ['invoice_payment.paid', 'invoice_payment'],
  ['customer.created', 'customer'],
  ['customer.updated', 'customer'],
  ['customer.deleted', 'customer'],
  ['customer.tax_id.created', null],
  ['charge.refunded', 'charge'],
  ['charge.succeeded', null],
  ['refund.created', 'refund'],
  ['charge.refund.updated', 'refund'],
  ['charge.dispute.created', 'dispute'],
  ['entitlements.active_entitlement_summary.updated', 'customer_object'],
  ['subscription_schedule.released', 'customer_object'],
  ['product.updated', 'catalog'],
  ['price.created', 'catalog'],
  ['plan.created', null],
  ['v1.customer.updated', 'customer'],
  ['v2.core.event_destination.ping', null],
])('%s is about %s', (type, topic) => {
  expect(topicOf(type)).toBe(topic)
})

test('the envelope is read from any shape, and what cannot be an id is null', () => {
  expect(readEnvelope(anEvent())).toMatchObject({
    eventId: 'evt_1',
    type: 'customer.updated',
    customerId: 'cus_A',
    objectId: 'cus_A',
    thin: false,
  })
  expect(
    readEnvelope(
      anEvent({
        data: { object: { id: 'in_1', object: 'invoice', customer: { id: 'cus_B', deleted: true } } },
      }),
    ).customerId,
  ).toBe('cus_B')
  for (const id of [null, 7, '', 'a\nb', 'x'.repeat(256), { id: 'evt_1' }])
    expect(readEnvelope(anEvent({ id })).eventId).toBeNull()
  for (const body of [null, 7, 'x', [], {}])
    expect(readEnvelope(body)).toMatchObject({ eventId: null, type: null, customerId: null })
})

test.each([
  [1_790_000_000, 1_790_000_000_000],
  [0, 0],
  [253_402_300_799, Date.UTC(9999, 11, 31, 23, 59, 59)],
  ['2026-11-30T10:00:00.250Z', Date.UTC(2026, 10, 30, 10, 0, 0, 250)],
  [253_402_300_800, null],
  [-1, null],
  [1e300, null],
  ['+010000-01-01T00:00:00Z', null],
  ['2026-13-45', null],
  [null, null],
  [{}, null],
])('created %j is the instant %s', (created, at) => {
  expect(readEnvelope(anEvent({ created })).createdAt).toBe(at)
})

test('of a thin event the related object is what it is about', () => {
  const thin = (related_object: unknown) => readEnvelope(anEvent({ object: 'v2.core.event', related_object }))

  expect(thin({ id: 'cus_B', type: 'customer' })).toMatchObject({
    thin: true,
    customerId: 'cus_B',
    objectId: 'cus_B',
  })
  expect(thin({ id: 'sub_1', type: 'subscription' })).toMatchObject({ customerId: null, objectId: 'sub_1' })
  expect(thin(null)).toMatchObject({ thin: true, customerId: null, objectId: null })
})

test.each([
  [
    'a type without bearing',
    { type: 'plan.created' },
    { livemode: false, connectId: null },
    'event_type_ignored',
  ],
  [
    'a live event at a test account',
    { livemode: true },
    { livemode: false, connectId: null },
    'livemode_mismatch',
  ],
  [
    'a test event at a live account',
    { livemode: false },
    { livemode: true, connectId: null },
    'livemode_mismatch',
  ],
  ['a mode that is not pinned yet', { livemode: true }, { livemode: null, connectId: null }, null],
  [
    'a connected account that is not ours',
    { account: 'acct_1' },
    { livemode: false, connectId: null },
    'account_mismatch',
  ],
  [
    'another than the connected account',
    { account: 'acct_2' },
    { livemode: false, connectId: 'acct_1' },
    'account_mismatch',
  ],
  ['our connected account', { account: 'acct_1' }, { livemode: false, connectId: 'acct_1' }, null],
  ['no type', { type: null }, { livemode: false, connectId: null }, null],
])('at receipt: %s', (_what, over, account, reason) => {
  expect(settledAtReceipt(readEnvelope(anEvent(over)), account)).toBe(reason)
})

test('of a refunded charge the listed refunds are reported, never its running total', () => {
  const charge = {
    id: 'ch_1',
    object: 'charge',
    amount_refunded: 900,
    refunds: { data: [{ id: 're_1', object: 'refund', amount: 400, currency: 'usd', charge: 'ch_1' }] },
  }
  expect(reportedMoneyBack(charge)).toMatchObject([
    { kind: 'refund', id: 're_1', amount: 400, chargeId: 'ch_1' },
  ])
  expect(reportedMoneyBack({ ...charge, refunds: undefined })).toEqual([])
  expect(
    reportedMoneyBack({ id: 'dp_1', object: 'dispute', amount: Number.POSITIVE_INFINITY, status: 'x y' }),
  ).toMatchObject([{ kind: 'dispute', amount: null, status: null }])
})

test('a refund is reported with what ties it to a customer, and what cannot be stored is null', () => {
  const refund = {
    id: 're_1',
    object: 'refund',
    charge: { id: 'ch_1', object: 'charge' },
    payment_intent: 'pi_1',
    amount: 500,
    currency: 'usd',
    status: 'succeeded',
    created: 1_790_000_000,
  }

  expect(reportedMoneyBack(refund)).toEqual([
    {
      kind: 'refund',
      id: 're_1',
      chargeId: 'ch_1',
      paymentIntentId: 'pi_1',
      invoiceId: null,
      amount: 500,
      currency: 'usd',
      status: 'succeeded',
      createdAt: 1_790_000_000_000,
    },
  ])
  expect(
    reportedMoneyBack({ ...refund, created: 1e300, amount: 0.5, currency: 7, charge: '' }),
  ).toMatchObject([{ chargeId: null, amount: null, currency: null, createdAt: null }])
})

test.each([
  ['a refund without an id', { object: 'refund', amount: 1 }],
  ['another object', { id: 'in_1', object: 'invoice' }],
  ['a charge whose refunds are no list', { id: 'ch_1', object: 'charge', refunds: { data: 'x' } }],
  [
    'a charge whose refunds are nothing',
    { id: 'ch_1', object: 'charge', refunds: { data: [null, 7, 're_1'] } },
  ],
])('%s reports nothing', (_what, object) => {
  expect(reportedMoneyBack(object)).toEqual([])
})
