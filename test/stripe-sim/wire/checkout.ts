// Wire objects of checkout sessions and invoice payments.
// See shapes.ts for the conventions.

import type Stripe from 'stripe'
import { priceWire } from './catalog.ts'
import type { Wire } from './catalog.ts'
import type { InvoiceState, SessionState } from '../records.ts'
import { need } from '../world.ts'
import type { World } from '../world.ts'

export const invoicePaymentWire = (world: World, invoice: InvoiceState) =>
  ({
    id: invoice.payment ?? '',
    object: 'invoice_payment',
    amount_paid: invoice.status === 'paid' ? invoice.amountPaid : null,
    amount_requested: invoice.amount,
    created: invoice.finalizedAt ?? invoice.created,
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: world.account.livemode,
    payment: { payment_intent: invoice.paymentIntent ?? '', type: 'payment_intent' },
    status: invoice.status === 'paid' ? 'paid' : invoice.status === 'void' ? 'canceled' : 'open',
    status_transitions: { canceled_at: invoice.voidedAt, paid_at: invoice.paidAt },
  }) satisfies Wire<Stripe.InvoicePayment>

// What the double does not simulate, as Stripe shows it unused.
const UNUSED_BY_SESSIONS = {
  adaptive_pricing: null,
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
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
  submit_type: null,
  ui_mode: 'hosted_page',
  wallet_options: null,
} satisfies Partial<Wire<Stripe.Checkout.Session>>

export const sessionWire = (world: World, session: SessionState) =>
  ({
    id: session.id,
    object: 'checkout.session',
    ...UNUSED_BY_SESSIONS,
    amount_subtotal: session.amount,
    amount_total: session.amount,
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReferenceId,
    created: session.created,
    currency: session.currency,
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: session.customer,
    customer_details:
      session.status === 'open'
        ? null
        : {
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
    payment_intent: session.paymentIntent,
    payment_link: session.paymentLink,
    payment_method_types: [...session.methodTypes],
    payment_status: session.paymentStatus,
    status: session.status,
    subscription: session.subscription,
    success_url: session.successUrl,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    url: session.status === 'open' ? `https://checkout.stripe.com/c/pay/${session.id}` : null,
  }) satisfies Wire<Stripe.Checkout.Session>

export const sessionItemWire = (world: World, session: SessionState, index: number) => {
  const item = session.items[index]
  const price = need(world, 'price', item?.price ?? '')
  const amount = price.unitAmount * (item?.quantity ?? 1)
  return {
    id: `li_${session.id.slice(-20)}${index}`,
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: amount,
    amount_tax: 0,
    amount_total: amount,
    currency: price.currency,
    description: price.product,
    metadata: {},
    price: priceWire(world, price),
    quantity: item?.quantity ?? 1,
  } satisfies Wire<Stripe.LineItem>
}
