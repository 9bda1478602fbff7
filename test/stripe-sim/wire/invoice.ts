// Wire objects of invoices, payments and checkout, in the newest API version. See shapes.ts for the
// conventions.

import type Stripe from 'stripe'
import { embeddedList, planWire, priceWire } from './catalog.ts'
import type { Wire } from './catalog.ts'
import type { InvoiceItemState, InvoiceState, LineState, PriceState } from '../records.ts'
import type { World } from '../world.ts'

export const lineWire = (world: World, invoice: InvoiceState, line: LineState) => {
  const price = line.price === null ? undefined : world.store.price.get(line.price)
  const base = {
    id: line.id,
    object: 'line_item',
    amount: line.amount,
    currency: invoice.currency,
    description:
      line.description ??
      (price === undefined ? 'One-off charge' : `${line.quantity ?? 0} × ${price.product}`),
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: invoice.id,
    livemode: world.account.livemode,
    metadata: { ...invoice.subscriptionMetadata },
    parent: lineParentOf(invoice, line),
    period: { start: line.start, end: line.end },
    pretax_credit_amounts: [],
    pricing: pricingOf(price),
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

const pricingOf = (price: PriceState | undefined) =>
  price === undefined
    ? null
    : {
        price_details: { price: price.id, product: price.product },
        type: 'price_details' as const,
        unit_amount_decimal: String(price.unitAmount),
      }

const lineParentOf = (invoice: InvoiceState, line: LineState) => {
  const common = {
    proration: false,
    proration_details: { credited_items: null },
    subscription: invoice.subscription,
  }
  if (line.item !== null) {
    return {
      invoice_item_details: null,
      subscription_item_details: { invoice_item: null, ...common, subscription_item: line.item },
      type: 'subscription_item_details' as const,
    }
  }
  if (line.invoiceItem === null) return null
  return {
    invoice_item_details: { invoice_item: line.invoiceItem, ...common },
    subscription_item_details: null,
    type: 'invoice_item_details' as const,
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
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_phone: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  footer: null,
  from_invoice: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
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
  total_pretax_credit_amounts: [],
  total_taxes: [],
} satisfies Partial<Wire<Stripe.Invoice>>

export const invoiceWire = (world: World, invoice: InvoiceState) => {
  const subtotal = invoice.amount + (invoice.discounted?.amount ?? 0)
  const lines = invoice.lines.map((line) => lineWire(world, invoice, line))
  const customer = world.store.customer.get(invoice.customer)
  const base = {
    id: invoice.id,
    object: 'invoice',
    ...UNUSED_BY_INVOICES,
    account_name: world.account.name,
    amount_due: invoice.amount,
    amount_paid: invoice.amountPaid,
    amount_remaining: invoice.amount - invoice.amountPaid,
    attempt_count: invoice.attempts,
    attempted: invoice.attempts > 0,
    auto_advance: invoice.status === 'open',
    billing_reason: invoice.reason,
    collection_method: invoice.collection,
    created: invoice.created,
    currency: invoice.currency,
    customer: invoice.customer,
    customer_email: customer?.email ?? null,
    customer_name: customer?.name ?? null,
    customer_tax_ids: [],
    description: invoice.description,
    discounts: invoice.discounted === null ? [] : [invoice.discounted.discount.id],
    due_date: invoice.dueDate,
    effective_at: invoice.finalizedAt,
    ending_balance: invoice.status === 'draft' ? null : 0,
    ...pagesOf(world, invoice),
    lines: embeddedList(lines, `/v1/invoices/${invoice.id}/lines`),
    livemode: world.account.livemode,
    metadata: { ...invoice.metadata },
    next_payment_attempt: invoice.nextAttempt,
    number: invoice.number,
    parent: parentOf(invoice),
    period_end: invoice.created,
    period_start: invoice.created,
    status: invoice.status,
    status_transitions: transitionsOf(invoice),
    subtotal,
    subtotal_excluding_tax: subtotal,
    test_clock: customer?.testClock ?? null,
    total: invoice.amount,
    total_discount_amounts: discountsOf(invoice),
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

const pagesOf = (world: World, { id, finalizedAt }: InvoiceState) => {
  const path = `${world.account.id}/${id}`
  return {
    hosted_invoice_url: finalizedAt === null ? null : `https://invoice.stripe.com/i/${path}`,
    invoice_pdf: finalizedAt === null ? null : `https://pay.stripe.com/invoice/${path}/pdf`,
  }
}

const discountsOf = ({ discounted }: InvoiceState) =>
  discounted === null ? [] : [{ amount: discounted.amount, discount: discounted.discount.id }]

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

export const deletedInvoiceWire = (id: string) =>
  ({ id, object: 'invoice', deleted: true }) satisfies Wire<Stripe.DeletedInvoice>

export const invoiceItemWire = (world: World, item: InvoiceItemState) => {
  const price = item.price === null ? undefined : world.store.price.get(item.price)
  return {
    id: item.id,
    object: 'invoiceitem',
    amount: item.amount,
    currency: item.currency,
    customer: item.customer,
    customer_account: null,
    date: item.created,
    description: item.description,
    discountable: true,
    discounts: [],
    invoice: item.invoice,
    livemode: world.account.livemode,
    metadata: { ...item.metadata },
    parent: null,
    period: { end: item.created, start: item.created },
    pricing: pricingOf(price),
    proration: false,
    quantity: item.quantity,
    quantity_decimal: String(item.quantity),
    tax_rates: [],
    test_clock: world.store.customer.get(item.customer)?.testClock ?? null,
  } satisfies Wire<Stripe.InvoiceItem>
}

export const deletedInvoiceItemWire = (id: string) =>
  ({ id, object: 'invoiceitem', deleted: true }) satisfies Wire<Stripe.DeletedInvoiceItem>
