// What a worker does about a stored event (rules.md sections 1 and 2).
import { expect, test } from 'vitest'
import { interpret } from '../../src/inbox/interpret.ts'
import { anEvent } from '../harness/event.ts'

const about = (type: string, object: unknown, customerId: string | null = 'cus_A') =>
  interpret({ type, body: anEvent({ type, data: { object } }), customerId })

test.each([
  [
    'metadata of a session before its reference',
    {
      object: 'checkout.session',
      mode: 'subscription',
      metadata: { tenant_id: 'a' },
      client_reference_id: 'b',
    },
    { kind: 'tenant', tenantId: 'a', by: 'checkout' },
  ],
  [
    'the reference of a session',
    { object: 'checkout.session', mode: 'subscription', client_reference_id: 'b', payment_link: null },
    { kind: 'tenant', tenantId: 'b', by: 'checkout' },
  ],
  [
    'not the reference of a Payment Link',
    { object: 'checkout.session', mode: 'subscription', client_reference_id: 'b', payment_link: 'plink_1' },
    { kind: 'none' },
  ],
  [
    'metadata even of a Payment Link',
    {
      object: 'checkout.session',
      mode: 'subscription',
      metadata: { tenant_id: 'a' },
      payment_link: 'plink_1',
    },
    { kind: 'tenant', tenantId: 'a', by: 'checkout' },
  ],
  [
    'nothing from an empty string',
    {
      object: 'checkout.session',
      mode: 'subscription',
      metadata: { tenant_id: '' },
      client_reference_id: '',
    },
    { kind: 'none' },
  ],
  [
    'any script',
    { object: 'checkout.session', mode: 'subscription', client_reference_id: 'Zoë 会社 🚀' },
    { kind: 'tenant', tenantId: 'Zoë 会社 🚀', by: 'checkout' },
  ],
])('a tenant is taken from a session: %s', (_what, object, hint) => {
  expect(about('checkout.session.completed', object)).toMatchObject({ kind: 'reconcile', hint })
})

test.each([
  ['with a control character', 'a\u0000b'],
  ['with a lone surrogate', 'a\ud800'],
  ['of 256 characters', 'x'.repeat(256)],
  ['that is a number', 7],
])('a tenant id %s stops the event', (_what, tenant_id) => {
  const object = { id: 'sub_1', object: 'subscription', status: 'active', metadata: { tenant_id } }
  expect(about('customer.subscription.updated', object)).toMatchObject({
    kind: 'quarantine',
    reason: 'unrecognized_stripe_payload',
  })
})

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
