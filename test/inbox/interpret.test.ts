// What an event is about: by its envelope at receipt, by its body in the worker (rules.md sections 1 and 2).
import { expect, test } from 'vitest'
import { interpret, readEnvelope, settledAtReceipt, topicOf } from '../../src/inbox/interpret.ts'
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

const about = (type: string, object: unknown, customerId: string | null = 'cus_A') =>
  interpret({ type, body: anEvent({ type, data: { object } }), customerId })

test.each([
  ['metadata of a session before its reference', { object: 'checkout.session', mode: 'subscription', metadata: { tenant_id: 'a' }, client_reference_id: 'b' }, { kind: 'tenant', tenantId: 'a', by: 'checkout' }],
  ['the reference of a session', { object: 'checkout.session', mode: 'subscription', client_reference_id: 'b', payment_link: null }, { kind: 'tenant', tenantId: 'b', by: 'checkout' }],
  ['not the reference of a Payment Link', { object: 'checkout.session', mode: 'subscription', client_reference_id: 'b', payment_link: 'plink_1' }, { kind: 'none' }],
  ['metadata even of a Payment Link', { object: 'checkout.session', mode: 'subscription', metadata: { tenant_id: 'a' }, payment_link: 'plink_1' }, { kind: 'tenant', tenantId: 'a', by: 'checkout' }],
  ['nothing from an empty string', { object: 'checkout.session', mode: 'subscription', metadata: { tenant_id: '' }, client_reference_id: '' }, { kind: 'none' }],
  ['any script', { object: 'checkout.session', mode: 'subscription', client_reference_id: 'Zoë 会社 🚀' }, { kind: 'tenant', tenantId: 'Zoë 会社 🚀', by: 'checkout' }],
])('a tenant is taken from a session: %s', (_what, object, hint) => {
  expect(about('checkout.session.completed', object)).toMatchObject({ kind: 'reconcile', hint })
})

test.each([['with a control character', 'a\u0000b'], ['with a lone surrogate', 'a\ud800'], ['of 256 characters', 'x'.repeat(256)], ['that is a number', 7]])(
  'a tenant id %s stops the event',
  (_what, tenant_id) => {
    const object = { id: 'sub_1', object: 'subscription', status: 'active', metadata: { tenant_id } }
    expect(about('customer.subscription.updated', object)).toMatchObject({ kind: 'quarantine', reason: 'unrecognized_stripe_payload' })
  },
)

test.each([
  ['checkout.session.completed', { object: 'checkout.session', mode: 'subscription' }, true],
  ['customer.subscription.updated', { id: 'sub_1', object: 'subscription', status: 'active' }, true],
  ['customer.subscription.updated', { id: 'sub_1', object: 'subscription', status: 'canceled' }, false],
  ['customer.subscription.updated', { id: 'sub_1', object: 'subscription', status: 'incomplete_expired' }, false],
  ['customer.subscription.deleted', { id: 'sub_1', object: 'subscription', status: 'canceled' }, false],
  ['invoice.paid', { id: 'in_1', object: 'invoice', subscription: 'sub_1' }, true],
  ['invoice.paid', { id: 'in_1', object: 'invoice', parent: { subscription_details: { subscription: { id: 'sub_1' } } } }, true],
  ['invoice.paid', { id: 'in_1', object: 'invoice', subscription: null, parent: null }, false],
  ['customer.updated', { id: 'cus_A', object: 'customer' }, false],
])('%s of %j implies a subscription: %s', (type, object, impliesSubscription) => {
  expect(about(type, object)).toMatchObject({ kind: 'reconcile', impliesSubscription })
})

test.each([
  ['a checkout that sells nothing recurring and names nobody', 'checkout.session.completed', { object: 'checkout.session', mode: 'payment' }, 'cus_A', { kind: 'ignore', reason: 'checkout_without_subscription' }],
  ['a guest checkout', 'checkout.session.completed', { object: 'checkout.session', mode: 'payment', customer: null }, null, { kind: 'ignore', reason: 'checkout_without_subscription' }],
  ['a subscription without a customer', 'customer.subscription.updated', { id: 'sub_1', object: 'subscription', customer: null }, null, { kind: 'quarantine' }],
  ['a subscription that is an invoice', 'customer.subscription.updated', { id: 'sub_1', object: 'invoice' }, 'cus_A', { kind: 'quarantine' }],
  ['a subscription without an id', 'customer.subscription.updated', { object: 'subscription', customer: 'cus_A' }, 'cus_A', { kind: 'quarantine' }],
  ['a dispute', 'charge.dispute.created', { id: 'dp_1', object: 'dispute', charge: 'ch_1' }, null, { kind: 'resolve', through: 'charge', id: 'ch_1' }],
  ['a refund of an expanded charge', 'refund.created', { id: 're_1', object: 'refund', charge: { id: 'ch_2' } }, null, { kind: 'resolve', through: 'charge', id: 'ch_2' }],
  ['an invoice payment', 'invoice_payment.paid', { id: 'inpay_1', object: 'invoice_payment', invoice: 'in_1' }, null, { kind: 'resolve', through: 'invoice', id: 'in_1' }],
  ['a refund of nothing', 'refund.created', { id: 're_1', object: 'refund', charge: null }, null, { kind: 'unresolvable' }],
  ['a price', 'price.updated', { id: 'price_1', object: 'price' }, null, { kind: 'fan_out', what: 'price', id: 'price_1' }],
  ['a product', 'product.deleted', { id: 'prod_1', object: 'product' }, null, { kind: 'fan_out', what: 'product', id: 'prod_1' }],
  ['no object', 'invoice.paid', null, 'cus_A', { kind: 'quarantine' }],
])('%s is understood', (_what, type, object, customerId, meaning) => {
  expect(about(type, object, customerId)).toMatchObject(meaning)
})

test('a thin event goes by its related object', () => {
  const thin = (related_object: unknown, customerId: string | null = null) =>
    interpret({ type: 'v1.customer.subscription.updated', body: { object: 'v2.core.event', related_object }, customerId })

  expect(thin({ id: 'sub_1', type: 'subscription' })).toEqual({ kind: 'resolve', through: 'subscription', id: 'sub_1' })
  expect(thin({ id: 'sub_1', type: 'subscription' }, 'cus_A')).toMatchObject({ kind: 'reconcile', object: null })
  expect(thin(null)).toMatchObject({ kind: 'quarantine', reason: 'thin_event_without_data' })
})

test('the envelope is read from any shape, and what cannot be an id is null', () => {
  expect(readEnvelope(anEvent())).toMatchObject({ eventId: 'evt_1', type: 'customer.updated', customerId: 'cus_A', objectId: 'cus_A', thin: false })
  expect(readEnvelope(anEvent({ created: '2026-11-30T10:00:00Z' })).createdAt).toBe(Date.UTC(2026, 10, 30, 10))
  expect(readEnvelope(anEvent({ created: 1e300 })).createdAt).toBeNull()
  expect(readEnvelope(anEvent({ data: { object: { id: 'in_1', object: 'invoice', customer: { id: 'cus_B', deleted: true } } } })).customerId).toBe('cus_B')
  for (const id of [null, 7, '', 'a\nb', 'x'.repeat(256), { id: 'evt_1' }]) expect(readEnvelope(anEvent({ id })).eventId).toBeNull()
  for (const body of [null, 7, 'x', [], {}]) expect(readEnvelope(body)).toMatchObject({ eventId: null, type: null, customerId: null })
})

test.each([
  ['a type without bearing', { type: 'plan.created' }, { livemode: false, connectId: null }, 'event_type_ignored'],
  ['a live event at a test account', { livemode: true }, { livemode: false, connectId: null }, 'livemode_mismatch'],
  ['a test event at a live account', { livemode: false }, { livemode: true, connectId: null }, 'livemode_mismatch'],
  ['a mode that is not pinned yet', { livemode: true }, { livemode: null, connectId: null }, null],
  ['a connected account that is not ours', { account: 'acct_1' }, { livemode: false, connectId: null }, 'account_mismatch'],
  ['another than the connected account', { account: 'acct_2' }, { livemode: false, connectId: 'acct_1' }, 'account_mismatch'],
  ['our connected account', { account: 'acct_1' }, { livemode: false, connectId: 'acct_1' }, null],
  ['no type', { type: null }, { livemode: false, connectId: null }, null],
])('at receipt: %s', (_what, over, account, reason) => {
  expect(settledAtReceipt(readEnvelope(anEvent(over)), account)).toBe(reason)
})

test('of a refunded charge the listed refunds are reported, never its running total', () => {
  const charge = { id: 'ch_1', object: 'charge', amount_refunded: 900, refunds: { data: [{ id: 're_1', object: 'refund', amount: 400, currency: 'usd', charge: 'ch_1' }] } }
  expect(reportedMoneyBack(charge)).toMatchObject([{ kind: 'refund', id: 're_1', amount: 400, chargeId: 'ch_1' }])
  expect(reportedMoneyBack({ ...charge, refunds: undefined })).toEqual([])
  expect(reportedMoneyBack({ id: 'dp_1', object: 'dispute', amount: 1e400, status: 'x y' })).toMatchObject([{ kind: 'dispute', amount: null, status: null }])
})
