// Wire objects of payment methods, payment and setup intents and charges. See catalog.ts for the conventions.

import type Stripe from 'stripe'
import type { ChargeState, IntentState, MethodState, SetupIntentState } from '../records-payments.ts'
import type { World } from '../world.ts'
import type { Wire } from './catalog.ts'

export const methodWire = (world: World, method: MethodState) =>
  ({
    id: method.id,
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: { address: null, email: method.email, name: method.name, phone: null, tax_id: null },
    ...(method.type === 'card' ? { card: cardOf(method) } : { sepa_debit: bankOf(method) }),
    created: method.created,
    customer: method.customer,
    customer_account: null,
    livemode: world.account.livemode,
    metadata: { ...method.metadata },
    type: method.type,
  }) satisfies Wire<Stripe.PaymentMethod>

const cardOf = ({ last4 }: MethodState) => ({
  brand: 'visa',
  checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
  country: 'US',
  display_brand: 'visa',
  exp_month: 12,
  exp_year: 2034,
  fingerprint: 'simulatedprint00',
  funding: 'credit',
  generated_from: null,
  last4,
  networks: { available: ['visa'], preferred: null },
  regulated_status: 'unregulated' as const,
  three_d_secure_usage: { supported: true },
  wallet: null,
})

const bankOf = ({ last4 }: MethodState) => ({
  bank_code: '19043',
  branch_code: '',
  country: 'AT',
  fingerprint: 'simulatedprint00',
  generated_from: { charge: null, setup_attempt: null },
  last4,
})

// As a declined card is told, inside intents too.
const CARD_ERROR = {
  advice_code: 'try_again_later',
  code: 'card_declined' as const,
  decline_code: 'generic_decline',
  doc_url: 'https://stripe.com/docs/error-codes/card-declined',
  message: 'Your card was declined.',
  network_decline_code: '01',
  type: 'card_error' as const,
}

const secretOf = (id: string) => `${id}_secret_simulated`

const nextAction = (status: string) =>
  status === 'requires_action' ? { type: 'use_stripe_sdk', use_stripe_sdk: {} } : null

export const intentWire = (world: World, intent: IntentState) => ({
  ...({
    id: intent.id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount: intent.amount,
    amount_capturable: intent.status === 'requires_capture' ? intent.amount : 0,
    amount_details: { tip: {} },
    amount_received: intent.received,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: intent.canceledAt,
    cancellation_reason: intent.cancelReason as 'abandoned' | null,
    capture_method: intent.capture,
    client_secret: secretOf(intent.id),
    confirmation_method: 'automatic',
    created: intent.created,
    currency: intent.currency,
    customer: intent.customer,
    customer_account: null,
    description: intent.description,
    excluded_payment_method_types: null,
    last_payment_error: intent.failed ? CARD_ERROR : null,
    latest_charge: intent.charge,
    livemode: world.account.livemode,
    managed_payments: { enabled: false },
    metadata: { ...intent.metadata },
    next_action: nextAction(intent.status),
    on_behalf_of: null,
    payment_method: intent.method,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: [...intent.methodTypes],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: intent.status,
    transfer_data: null,
    transfer_group: null,
  } satisfies Wire<Stripe.PaymentIntent>),
  _legacy: { invoice: intent.invoice },
})

export const setupIntentWire = (world: World, intent: SetupIntentState) =>
  ({
    id: intent.id,
    object: 'setup_intent',
    allowed_payment_method_types: null,
    application: null,
    automatic_payment_methods: null,
    cancellation_reason: intent.cancelReason as 'abandoned' | null,
    client_secret: secretOf(intent.id),
    created: intent.created,
    customer: intent.customer,
    customer_account: null,
    description: intent.description,
    excluded_payment_method_types: null,
    flow_directions: null,
    last_setup_error: intent.failed ? CARD_ERROR : null,
    latest_attempt: null,
    livemode: world.account.livemode,
    mandate: null,
    metadata: { ...intent.metadata },
    next_action: nextAction(intent.status),
    on_behalf_of: null,
    payment_method: intent.method,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: [...intent.methodTypes],
    single_use_mandate: null,
    status: intent.status,
    usage: 'off_session',
  }) satisfies Wire<Stripe.SetupIntent>

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
  metadata: {},
  on_behalf_of: null,
  outcome: null,
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

export const chargeWire = (world: World, charge: ChargeState) => {
  const email = (charge.customer === null ? null : world.store.customer.get(charge.customer)?.email) ?? null
  const base = {
    id: charge.id,
    object: 'charge',
    ...UNUSED_BY_CHARGES,
    amount: charge.amount,
    amount_captured: charge.captured ? charge.amount : 0,
    amount_refunded: charge.refunded,
    billing_details: { address: null, email, name: null, phone: null, tax_id: null },
    captured: charge.captured,
    created: charge.created,
    currency: charge.currency,
    customer: charge.customer,
    disputed: charge.disputed,
    failure_code: charge.failed ? 'card_declined' : null,
    failure_message: charge.failed ? 'Your card was declined.' : null,
    livemode: world.account.livemode,
    paid: !charge.failed,
    payment_intent: charge.paymentIntent,
    payment_method: charge.method,
    receipt_email: null,
    refunded: charge.refunded === charge.amount,
    status: charge.failed ? 'failed' : 'succeeded',
  } satisfies Wire<Stripe.Charge>
  return { ...base, _legacy: { invoice: charge.invoice } }
}
