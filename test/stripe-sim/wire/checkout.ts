// Wire objects of checkout sessions, invoice payments, refunds and disputes.
// See shapes.ts for the conventions.

import type Stripe from 'stripe'
import type { Wire } from './catalog.ts'
import type { DisputeState, InvoiceState, RefundState, SessionState } from '../state.ts'
import type { World } from '../world.ts'

export const invoicePaymentWire = (world: World, invoice: InvoiceState) =>
  ({
    id: invoice.payment ?? '',
    object: 'invoice_payment',
    amount_paid: invoice.status === 'paid' ? invoice.amountPaid : null,
    amount_requested: invoice.amount,
    created: invoice.finalizedAt ?? invoice.created,
    currency: 'usd',
    invoice: invoice.id,
    is_default: true,
    livemode: world.account.livemode,
    payment: { payment_intent: invoice.paymentIntent ?? '', type: 'payment_intent' },
    status: invoice.status === 'paid' ? 'paid' : invoice.status === 'void' ? 'canceled' : 'open',
    status_transitions: { canceled_at: invoice.voidedAt, paid_at: invoice.paidAt },
  }) satisfies Wire<Stripe.InvoicePayment>

export const refundWire = (refund: RefundState) =>
  ({
    id: refund.id,
    object: 'refund',
    amount: refund.amount,
    balance_transaction: null,
    charge: refund.charge,
    created: refund.created,
    currency: 'usd',
    customer: refund.customer,
    customer_account: null,
    metadata: {},
    payment_intent: refund.paymentIntent,
    payment_method: null,
    reason: null,
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  }) satisfies Wire<Stripe.Refund>

// A dispute names no customer: only charge and payment intent lead to one. `evidence` is left empty.
export const disputeWire = (world: World, dispute: DisputeState) =>
  ({
    id: dispute.id,
    object: 'dispute',
    amount: dispute.amount,
    balance_transactions: [],
    charge: dispute.charge,
    created: dispute.created,
    currency: 'usd',
    enhanced_eligibility_types: [],
    evidence_details: {
      due_by: dispute.created + 7 * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'manual',
    },
    intended_submission_method: null,
    is_charge_refundable: true,
    livemode: world.account.livemode,
    metadata: {},
    payment_intent: dispute.paymentIntent,
    reason: 'fraudulent',
    status: dispute.status,
  }) satisfies Omit<Wire<Stripe.Dispute>, 'evidence'>

// What the double does not simulate, as Stripe shows it unused.
const UNUSED_BY_SESSIONS = {
  adaptive_pricing: null,
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  cancel_url: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  currency: 'usd',
  currency_conversion: null,
  custom_fields: [],
  customer_account: null,
  customer_creation: 'always',
  discounts: [],
  integration_identifier: null,
  invoice_creation: null,
  locale: null,
  managed_payments: { enabled: false },
  origin_context: null,
  payment_intent: null,
  payment_method_collection: 'always',
  payment_method_configuration_details: null,
  payment_method_options: {},
  permissions: null,
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  status: 'complete',
  submit_type: null,
  success_url: 'https://example.com/done',
  ui_mode: 'hosted',
  url: null,
  wallet_options: null,
} satisfies Partial<Wire<Stripe.Checkout.Session>>

export const sessionWire = (world: World, session: SessionState) =>
  ({
    id: session.id,
    object: 'checkout.session',
    ...UNUSED_BY_SESSIONS,
    amount_subtotal: session.amount,
    amount_total: session.amount,
    client_reference_id: session.clientReferenceId,
    created: session.created,
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: session.customer,
    customer_details: {
      address: null,
      business_name: null,
      email: session.email,
      individual_name: null,
      name: null,
      phone: null,
      tax_exempt: 'none',
      tax_ids: [],
    },
    customer_email: null,
    expires_at: session.created + 86_400,
    invoice: session.invoice,
    livemode: world.account.livemode,
    metadata: { ...session.metadata },
    mode: session.mode,
    payment_link: session.paymentLink,
    payment_method_types: ['card'],
    payment_status: session.paymentStatus,
    subscription: session.subscription,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  }) satisfies Wire<Stripe.Checkout.Session>
