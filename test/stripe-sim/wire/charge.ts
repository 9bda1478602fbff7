// Wire objects of charges. See catalog.ts for the conventions.

import type Stripe from 'stripe'
import type { ChargeState } from '../records-payments.ts'
import type { World } from '../world.ts'
import type { Wire } from './catalog.ts'
import { NO_ADDRESS } from './payments.ts'

// What the double does not simulate, as Stripe shows it unused.
const UNUSED_BY_CHARGES = {
  application: null,
  application_fee: null,
  application_fee_amount: null,
  balance_transaction: null,
  calculated_statement_descriptor: null,
  description: null,
  failure_balance_transaction: null,
  fraud_details: {},
  radar_options: {},
  metadata: {},
  on_behalf_of: null,
  payment_method_details: null,
  receipt_number: null,
  receipt_url: null,
  review: null,
  shipping: null,
  source: null,
  source_transfer: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  transfer_data: null,
  transfer_group: null,
} satisfies Partial<Wire<Stripe.Charge>>

const APPROVED = {
  advice_code: null,
  network_advice_code: null,
  network_decline_code: null,
  network_status: 'approved_by_network',
  reason: null,
  risk_level: 'normal',
  seller_message: 'Payment complete.',
  type: 'authorized',
} as const
const REFUSED = {
  ...APPROVED,
  advice_code: 'try_again_later',
  network_decline_code: '01',
  network_status: 'declined_by_network',
  reason: 'generic_decline',
  seller_message: 'The bank did not return any further details with this decline.',
  type: 'issuer_declined',
} as const

// Sent, though not typed: see honesty/allowlist.ts.
const UNTYPED_OF_CHARGES = { destination: null, dispute: null, order: null }

export const chargeWire = (world: World, charge: ChargeState) => {
  const base = {
    id: charge.id,
    object: 'charge',
    ...UNUSED_BY_CHARGES,
    amount: charge.amount,
    amount_captured: charge.captured ? charge.amount : 0,
    amount_refunded: charge.refunded,
    billing_details: { address: NO_ADDRESS, email: null, name: null, phone: null, tax_id: null },
    captured: charge.captured,
    created: charge.created,
    currency: charge.currency,
    customer: charge.customer,
    disputed: charge.disputed,
    failure_code: charge.failed ? 'card_declined' : null,
    failure_message: charge.failed ? 'Your card was declined.' : null,
    livemode: world.account.livemode,
    paid: !charge.failed,
    outcome: charge.failed ? REFUSED : APPROVED,
    payment_intent: charge.paymentIntent,
    payment_method: charge.method,
    receipt_email: null,
    refunded: charge.refunded === charge.amount,
    status: charge.failed ? 'failed' : 'succeeded',
  } satisfies Wire<Stripe.Charge>
  return { ...base, ...UNTYPED_OF_CHARGES, _legacy: { invoice: charge.invoice } }
}
