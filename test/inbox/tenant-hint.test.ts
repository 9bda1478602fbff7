// Which tenant an event's own data names, and what a payer can alter (rules.md section 2).
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
  ['a customer', 'customer.updated', { id: 'cus_A', object: 'customer' }, 'tenant'],
  ['a subscription', 'customer.subscription.updated', { id: 'sub_1', object: 'subscription' }, 'tenant'],
  ['an invoice', 'invoice.paid', { id: 'in_1', object: 'invoice' }, 'none'],
  ['a charge', 'charge.refunded', { id: 'ch_1', object: 'charge' }, 'none'],
  ['a schedule', 'subscription_schedule.released', { id: 'sub_sched_1' }, 'none'],
])('the metadata of %s may name a tenant or not', (_what, type, object, kind) => {
  const hint = (extra: object) => about(type, { ...object, ...extra })

  expect(hint({ metadata: { tenant_id: 'acme' } })).toMatchObject({ hint: { kind } })
  // Only a session's reference is the host's word.
  expect(hint({ client_reference_id: 'acme' })).toMatchObject({ hint: { kind: 'none' } })
})

test('a tenant in metadata links by metadata, and a payment that names one is worth a read', () => {
  const customer = { id: 'cus_A', object: 'customer', metadata: { tenant_id: 'acme' } }
  const payment = { object: 'checkout.session', mode: 'payment', client_reference_id: 'acme' }

  expect(about('customer.updated', customer)).toMatchObject({ hint: { tenantId: 'acme', by: 'metadata' } })
  expect(about('checkout.session.completed', payment)).toMatchObject({
    kind: 'reconcile',
    impliesSubscription: false,
    hint: { tenantId: 'acme', by: 'checkout' },
  })
})

test.each([
  ['of 256 characters', 'x'.repeat(256)],
  ['with a control character', 'a\nb'],
  ['that is blank', '   '],
  ['that is a number', 7],
])('a reference %s stops the session, and is no tenant of a Payment Link', (_what, client_reference_id) => {
  const session = { object: 'checkout.session', mode: 'subscription', client_reference_id }

  expect(about('checkout.session.completed', session)).toMatchObject({ kind: 'quarantine' })
  expect(about('checkout.session.completed', { ...session, payment_link: 'plink_1' })).toMatchObject({
    kind: 'reconcile',
    hint: { kind: 'none' },
  })
})
