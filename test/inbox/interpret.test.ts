// What a worker does about a stored event (rules.md sections 1 and 2).
import { expect, test } from 'vitest'
import { interpret } from '../../src/inbox/interpret.ts'
import { anEvent } from '../harness/event.ts'

const about = (type: string, object: unknown, customerId: string | null = 'cus_A') =>
  interpret({ type, body: anEvent({ type, data: { object } }), customerId })

test.each([
  ['checkout.session.completed', { object: 'checkout.session', mode: 'subscription' }, true],
  ['customer.subscription.updated', { id: 'sub_1', object: 'subscription', status: 'active' }, true],
  ['customer.subscription.updated', { id: 'sub_1', object: 'subscription', status: 'canceled' }, false],
  [
    'customer.subscription.updated',
    { id: 'sub_1', object: 'subscription', status: 'incomplete_expired' },
    false,
  ],
  ['customer.subscription.deleted', { id: 'sub_1', object: 'subscription', status: 'canceled' }, false],
  ['invoice.paid', { id: 'in_1', object: 'invoice', subscription: 'sub_1' }, true],
  [
    'invoice.paid',
    { id: 'in_1', object: 'invoice', parent: { subscription_details: { subscription: { id: 'sub_1' } } } },
    true,
  ],
  ['invoice.paid', { id: 'in_1', object: 'invoice', subscription: null, parent: null }, false],
  ['customer.updated', { id: 'cus_A', object: 'customer' }, false],
])('%s of %j implies a subscription: %s', (type, object, impliesSubscription) => {
  expect(about(type, object)).toMatchObject({ kind: 'reconcile', impliesSubscription })
})

test.each([
  [
    'a checkout that sells nothing recurring and names nobody',
    'checkout.session.completed',
    { object: 'checkout.session', mode: 'payment' },
    'cus_A',
    { kind: 'ignore', reason: 'checkout_without_subscription' },
  ],
  [
    'a guest checkout',
    'checkout.session.completed',
    { object: 'checkout.session', mode: 'payment', customer: null },
    null,
    { kind: 'ignore', reason: 'checkout_without_subscription' },
  ],
  [
    'a subscription without a customer',
    'customer.subscription.updated',
    { id: 'sub_1', object: 'subscription', customer: null },
    null,
    { kind: 'quarantine' },
  ],
  [
    'a subscription that is an invoice',
    'customer.subscription.updated',
    { id: 'sub_1', object: 'invoice' },
    'cus_A',
    { kind: 'quarantine' },
  ],
  [
    'a subscription without an id',
    'customer.subscription.updated',
    { object: 'subscription', customer: 'cus_A' },
    'cus_A',
    { kind: 'quarantine' },
  ],
  [
    'a dispute',
    'charge.dispute.created',
    { id: 'dp_1', object: 'dispute', charge: 'ch_1' },
    null,
    { kind: 'resolve', through: 'charge', id: 'ch_1' },
  ],
  [
    'a refund of an expanded charge',
    'refund.created',
    { id: 're_1', object: 'refund', charge: { id: 'ch_2' } },
    null,
    { kind: 'resolve', through: 'charge', id: 'ch_2' },
  ],
  [
    'an invoice payment',
    'invoice_payment.paid',
    { id: 'inpay_1', object: 'invoice_payment', invoice: 'in_1' },
    null,
    { kind: 'resolve', through: 'invoice', id: 'in_1' },
  ],
  [
    'a refund of nothing',
    'refund.created',
    { id: 're_1', object: 'refund', charge: null },
    null,
    { kind: 'unresolvable' },
  ],
  [
    'a price',
    'price.updated',
    { id: 'price_1', object: 'price' },
    null,
    { kind: 'fan_out', what: 'price', id: 'price_1' },
  ],
  [
    'a product',
    'product.deleted',
    { id: 'prod_1', object: 'product' },
    null,
    { kind: 'fan_out', what: 'product', id: 'prod_1' },
  ],
  ['no object', 'invoice.paid', null, 'cus_A', { kind: 'quarantine' }],
])('%s is understood', (_what, type, object, customerId, meaning) => {
  expect(about(type, object, customerId)).toMatchObject(meaning)
})

test.each([
  ['checkout.session.async_payment_failed', 'checkout', { object: 'checkout.session', mode: 'subscription' }],
  ['customer.subscription.paused', 'subscription', { id: 'sub_1', object: 'subscription' }],
  ['customer.subscription.updated', 'subscription', { id: 'sub_1', plan: { id: 'gold' } }],
  ['invoice.overdue', 'invoice', { id: 'in_1', object: 'invoice' }],
  ['invoice.finalization_failed', 'invoice', { object: 'invoice' }],
  ['invoice_payment.paid', 'invoice_payment', { id: 'inpay_1', object: 'invoice_payment', invoice: 'in_1' }],
  ['customer.deleted', 'customer', { id: 'cus_A', object: 'customer', deleted: true }],
  ['charge.refunded', 'charge', { id: 'ch_1', object: 'charge' }],
  ['charge.dispute.closed', 'dispute', { id: 'dp_1', object: 'dispute', charge: 'ch_1' }],
  ['refund.failed', 'refund', { id: 're_1', object: 'refund', charge: 'ch_1' }],
  ['entitlements.active_entitlement_summary.updated', 'customer_object', { object: 'summary' }],
  [
    'subscription_schedule.canceled',
    'customer_object',
    { id: 'sub_sched_1', object: 'subscription_schedule' },
  ],
])('%s of a known customer reads it again, as %s', (type, topic, object) => {
  expect(about(type, object)).toMatchObject({ kind: 'reconcile', topic, object })
})

test.each([
  ['plan.created', 'ignore'],
  ['unrecognized', 'quarantine'],
])('the type %s is answered by %s, whatever it carries', (type, kind) => {
  expect(about(type, { id: 'cus_A', object: 'customer', metadata: { tenant_id: 'a' } })).toMatchObject({
    kind,
  })
})

test.each([
  ['a customer without an id', 'customer.updated', { object: 'customer' }],
  ['a customer that is a subscription', 'customer.updated', { id: 'sub_1', object: 'subscription' }],
  ['a session that is an invoice', 'checkout.session.completed', { id: 'in_1', object: 'invoice' }],
  ['a charge that is a refund', 'charge.refunded', { id: 're_1', object: 'refund' }],
  ['a price without an id', 'price.updated', { object: 'price' }],
  ['a price that is a plan', 'price.updated', { id: 'gold', object: 'plan' }],
])('%s is unreadable', (_what, type, object) => {
  expect(about(type, object)).toMatchObject({ kind: 'quarantine', reason: 'unrecognized_stripe_payload' })
})

test.each([
  ['a price', 'v1.price.updated', { id: 'price_1', type: 'price' }, { kind: 'fan_out', what: 'price' }],
  ['an invoice', 'v1.invoice.paid', { id: 'in_1', type: 'invoice' }, { kind: 'resolve', through: 'invoice' }],
  ['a charge', 'v1.charge.refunded', { id: 'ch_1', type: 'charge' }, { kind: 'resolve', through: 'charge' }],
  ['a dispute', 'v1.charge.dispute.created', { id: 'dp_1', type: 'dispute' }, { kind: 'unresolvable' }],
])('a thin event about %s that names no customer', (_what, type, related_object, meaning) => {
  expect(
    interpret({ type, body: { object: 'v2.core.event', related_object }, customerId: null }),
  ).toMatchObject(meaning)
})

test('a thin event goes by its related object', () => {
  const thin = (related_object: unknown, customerId: string | null = null) =>
    interpret({
      type: 'v1.customer.subscription.updated',
      body: { object: 'v2.core.event', related_object },
      customerId,
    })

  expect(thin({ id: 'sub_1', type: 'subscription' })).toEqual({
    kind: 'resolve',
    through: 'subscription',
    id: 'sub_1',
  })
  expect(thin({ id: 'sub_1', type: 'subscription' }, 'cus_A')).toMatchObject({
    kind: 'reconcile',
    object: null,
  })
  expect(thin(null)).toMatchObject({ kind: 'quarantine', reason: 'thin_event_without_data' })
})
