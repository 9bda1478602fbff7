// Wire objects of payment methods, payment and setup intents. See catalog.ts for the conventions.

import type Stripe from 'stripe'
import type { IntentState, MethodState, SetupIntentState } from '../records-payments.ts'
import type { World } from '../world.ts'
import type { Wire } from './catalog.ts'

// As Stripe shows an address of which nothing is known.
export const NO_ADDRESS = {
  city: null,
  country: null,
  line1: null,
  line2: null,
  postal_code: null,
  state: null,
}

export const methodWire = (world: World, method: MethodState) =>
  ({
    id: method.id,
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: {
      address: NO_ADDRESS,
      email: method.email,
      name: method.name,
      phone: null,
      tax_id: null,
    },
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

export const secretOf = (id: string) => `${id}_secret_simulated`

const nextAction = (status: string) =>
  status === 'requires_action' ? { type: 'use_stripe_sdk', use_stripe_sdk: {} } : null

export const intentWire = (world: World, intent: IntentState) => {
  const invoice = intent.invoice === null ? undefined : world.store.invoice.get(intent.invoice)
  const subscribed = invoice !== undefined && invoice.subscription !== null
  return intentFields(world, intent, subscribed)
}

const intentFields = (world: World, intent: IntentState, subscribed: boolean) => ({
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
    payment_details: { customer_reference: null, order_reference: null },
    payment_method_options: optionsOf(intent.methodTypes),
    payment_method_types: [...intent.methodTypes],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: subscribed ? ('off_session' as const) : null,
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

const optionsOf = (types: string[]) =>
  types.includes('card')
    ? {
        card: {
          installments: null,
          mandate_options: null,
          network: null,
          request_three_d_secure: 'automatic' as const,
        },
      }
    : {}

const setupOptionsOf = (types: string[]) =>
  types.includes('card')
    ? { card: { mandate_options: null, network: null, request_three_d_secure: 'automatic' as const } }
    : {}

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
    payment_method_options: setupOptionsOf(intent.methodTypes),
    payment_method_types: [...intent.methodTypes],
    single_use_mandate: null,
    status: intent.status,
    usage: 'off_session',
  }) satisfies Wire<Stripe.SetupIntent>
