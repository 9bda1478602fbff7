// Wire objects of invoices, payments and checkout, in the newest API version. See shapes.ts for the
// conventions.

import type Stripe from 'stripe'
import { embeddedList, planWire, priceWire } from './catalog.ts'
import type { Wire } from './catalog.ts'
import type { ChargeState, InvoiceState, LineState } from '../state.ts'
import type { World } from '../world.ts'

const lineWire = (world: World, invoice: InvoiceState, line: LineState) => {
  const price = line.price === null ? undefined : world.store.price.get(line.price)
  const base = {
    id: line.id,
    object: 'line_item',
    amount: line.amount,
    currency: 'usd',
    description: price === undefined ? 'One-off charge' : `${line.quantity ?? 0} × ${price.product}`,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: invoice.id,
    livemode: world.account.livemode,
    metadata: { ...invoice.subscriptionMetadata },
    parent:
      line.item === null
        ? null
        : {
            invoice_item_details: null,
            subscription_item_details: {
              invoice_item: null,
              proration: false,
              proration_details: null,
              subscription: invoice.subscription,
              subscription_item: line.item,
            },
            type: 'subscription_item_details',
          },
    period: { start: line.start, end: line.end },
    pretax_credit_amounts: [],
    pricing:
      price === undefined
        ? null
        : {
            price_details: { price: price.id, product: price.product },
            type: 'price_details',
            unit_amount_decimal: String(price.unitAmount),
          },
    quantity: line.quantity,
    quantity_decimal: line.quantity === null ? null : String(line.quantity),
    subscription: invoice.subscription,
    subtotal: line.amount,
    taxes: [],
  } satisfies Wire<Stripe.InvoiceLineItem>
  return {
    ...base,
    _legacy: {
      plan: price === undefined ? null : planWire(world, price),
      price: price === undefined ? null : priceWire(world, price),
      proration: false,
      subscription_item: line.item ?? undefined,
      type: line.item === null ? 'invoiceitem' : 'subscription',
    },
  }
}

// What the double does not simulate, as Stripe shows it unused.
const UNUSED_BY_INVOICES = {
  account_country: 'US',
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_shipping: 0,
  application: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  automatically_finalizes_at: null,
  currency: 'usd',
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_name: null,
  customer_phone: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  footer: null,
  from_invoice: null,
  invoice_pdf: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  metadata: {},
  on_behalf_of: null,
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  starting_balance: 0,
  statement_descriptor: null,
  total_discount_amounts: [],
  total_pretax_credit_amounts: [],
  total_taxes: [],
} satisfies Partial<Wire<Stripe.Invoice>>

export const invoiceWire = (world: World, invoice: InvoiceState) => {
  const remaining = invoice.amount - invoice.amountPaid
  const lines = invoice.lines.map((line) => lineWire(world, invoice, line))
  const customer = world.store.customer.get(invoice.customer)
  const base = {
    id: invoice.id,
    object: 'invoice',
    ...UNUSED_BY_INVOICES,
    account_name: world.account.name,
    amount_due: invoice.amount,
    amount_paid: invoice.amountPaid,
    amount_remaining: remaining,
    attempt_count: invoice.attempts,
    attempted: invoice.attempts > 0,
    auto_advance: invoice.status === 'open',
    billing_reason: invoice.reason,
    collection_method: invoice.collection,
    created: invoice.created,
    customer: invoice.customer,
    customer_email: customer?.email ?? null,
    due_date: invoice.dueDate,
    effective_at: invoice.finalizedAt,
    ending_balance: invoice.status === 'draft' ? null : 0,
    hosted_invoice_url:
      invoice.finalizedAt === null ? null : `https://invoice.stripe.com/i/${world.account.id}/${invoice.id}`,
    lines: embeddedList(lines, `/v1/invoices/${invoice.id}/lines`),
    livemode: world.account.livemode,
    next_payment_attempt: invoice.nextAttempt,
    number: invoice.number,
    parent: parentOf(invoice),
    period_end: invoice.created,
    period_start: invoice.created,
    status: invoice.status,
    status_transitions: transitionsOf(invoice),
    subtotal: invoice.amount,
    subtotal_excluding_tax: invoice.amount,
    test_clock: customer?.testClock ?? null,
    total: invoice.amount,
    total_excluding_tax: invoice.amount,
    webhooks_delivered_at: invoice.finalizedAt,
  } satisfies Wire<Stripe.Invoice>
  return {
    ...base,
    _legacy: {
      charge: invoice.charge,
      discount: null,
      paid: invoice.status === 'paid',
      paid_out_of_band: false,
      payment_intent: invoice.paymentIntent,
      subscription: invoice.subscription,
      subscription_details: invoice.subscription === null ? null : { metadata: invoice.subscriptionMetadata },
    },
  }
}

const parentOf = (invoice: InvoiceState) =>
  invoice.subscription === null
    ? null
    : {
        quote_details: null,
        subscription_details: {
          metadata: { ...invoice.subscriptionMetadata },
          subscription: invoice.subscription,
        },
        type: 'subscription_details',
      }

const transitionsOf = (invoice: InvoiceState) => ({
  finalized_at: invoice.finalizedAt,
  marked_uncollectible_at: invoice.uncollectibleAt,
  paid_at: invoice.paidAt,
  voided_at: invoice.voidedAt,
})

// What the double does not simulate, as Stripe shows it unused.
const UNUSED_BY_CHARGES = {
  application: null,
  application_fee: null,
  application_fee_amount: null,
  balance_transaction: null,
  calculated_statement_descriptor: null,
  currency: 'usd',
  description: null,
  failure_balance_transaction: null,
  fraud_details: {},
  metadata: {},
  on_behalf_of: null,
  outcome: null,
  payment_method: null,
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
  const email = world.store.customer.get(charge.customer)?.email ?? null
  const base = {
    id: charge.id,
    object: 'charge',
    ...UNUSED_BY_CHARGES,
    amount: charge.amount,
    amount_captured: charge.failed ? 0 : charge.amount,
    amount_refunded: charge.refunded,
    billing_details: { address: null, email, name: null, phone: null, tax_id: null },
    captured: !charge.failed,
    created: charge.created,
    customer: charge.customer,
    disputed: charge.disputed,
    failure_code: charge.failed ? 'card_declined' : null,
    failure_message: charge.failed ? 'Your card was declined.' : null,
    livemode: world.account.livemode,
    paid: !charge.failed,
    payment_intent: charge.paymentIntent,
    receipt_email: null,
    refunded: charge.refunded === charge.amount,
    status: charge.failed ? 'failed' : 'succeeded',
  } satisfies Wire<Stripe.Charge>
  return { ...base, _legacy: { invoice: charge.invoice } }
}
