// Invoices: drafted, finalized, collected (at once, or what else becomes of it). Amounts are quantity times unit price
// less a discount; prorations and taxes are not simulated.

import { invalid } from '../errors.ts'
import type { Collection, InvoiceState, LineState, Metadata, SubState } from '../records.ts'
import type { PaymentOutcome } from '../records-payments.ts'
import { ownedBy, put } from '../state.ts'
import { invoicePaymentWire } from '../wire/checkout.ts'
import { invoiceWire } from '../wire/invoice.ts'
import { subscriptionWire } from '../wire/subscription.ts'
import { changing, need } from '../world.ts'
import type { World } from '../world.ts'
import { discountOn } from './coupons.ts'
import { attemptIntent, createIntent } from './intents.ts'
import { chooseMethod } from './methods.ts'

const DAY = 86_400
const DESCRIPTIONS = {
  manual: 'Payment for Invoice',
  subscription_create: 'Subscription creation',
  subscription_cycle: 'Subscription update',
  subscription_update: 'Subscription update',
}
const RETRY_AFTER = 3 * DAY
// Stripe's usual number of tries before the subscription's final state.
const MAX_PAYMENT_ATTEMPTS = 4
export const DAYS_UNTIL_DUE = 30

/** What a verb can decide about a payment, past what the payment method would do. */
export type Payment = 'paid' | 'fails'

export type InvoiceDraft = {
  customer: string
  sub: SubState | null
  lines: Omit<LineState, 'id'>[]
  reason: InvoiceState['reason']
  collection: Collection
  currency?: string
  description?: string
  daysUntilDue?: number
  metadata?: Metadata
}

export const draftInvoice = (world: World, draft: InvoiceDraft): InvoiceState => {
  const subtotal = draft.lines.reduce((sum, line) => sum + line.amount, 0)
  const discounted = discountOn(world, draft.customer, draft.sub, subtotal)
  const invoice: InvoiceState = {
    id: world.id('in'),
    created: world.now(draft.customer),
    customer: draft.customer,
    subscription: draft.sub?.id ?? null,
    subscriptionMetadata: { ...draft.sub?.metadata },
    description: draft.description ?? null,
    metadata: { ...draft.metadata },
    status: 'draft',
    currency: draft.currency ?? 'usd',
    amount: subtotal - (discounted?.amount ?? 0),
    discounted,
    amountPaid: 0,
    reason: draft.reason,
    collection: draft.collection,
    daysUntilDue: draft.daysUntilDue ?? DAYS_UNTIL_DUE,
    dueDate: null,
    overdueSent: false,
    finalizedAt: null,
    paidAt: null,
    voidedAt: null,
    uncollectibleAt: null,
    attempts: 0,
    nextAttempt: null,
    number: null,
    lines: draft.lines.map((line) => ({ id: world.id('il'), ...line })),
    paymentIntent: null,
    charge: null,
    payment: null,
  }
  if (draft.sub !== null) draft.sub.latestInvoice = invoice.id
  return put(world.store, 'invoice', invoice)
}

export const announceInvoice = (world: World, invoice: InvoiceState): void =>
  void world.emit('invoice.created', invoiceWire(world, invoice))

export const finalizeInvoice = (world: World, invoice: InvoiceState): void => {
  if (invoice.status !== 'draft') throw invalid('This invoice is already finalized.')
  const now = world.now(invoice.customer)
  invoice.status = 'open'
  invoice.finalizedAt = now
  const serial = String(world.store.invoice.size).padStart(4, '0')
  invoice.number = `${invoice.customer.slice(-8).toUpperCase()}-${serial}`
  if (invoice.collection === 'send_invoice') invoice.dueDate = now + invoice.daysUntilDue * DAY
  if (invoice.amount > 0) {
    const { customer, amount, currency, id } = invoice
    const description = DESCRIPTIONS[invoice.reason]
    invoice.paymentIntent = createIntent(world, { customer, amount, currency, description, invoice: id }).id
    invoice.payment = world.id('inpay')
  }
  world.emit('invoice.finalized', invoiceWire(world, invoice))
}

/** Paid. Out of band (a bank transfer that somebody saw): no charge, and no `invoice.payment_succeeded`. */
export const settleInvoice = (
  world: World,
  invoice: InvoiceState,
  how: { outOfBand?: boolean; method?: string | null; outcome?: 'inquiry' | 'succeeds' } = {},
): void => {
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalid(`Invoice is already ${invoice.status}`, undefined, 'invoice_not_open')
  }
  const wire = () => invoiceWire(world, invoice)
  const charged = how.outOfBand !== true && invoice.paymentIntent !== null
  changing(world, 'invoice.updated', wire, () => {
    if (charged) {
      const intent = need(world, 'intent', invoice.paymentIntent ?? '')
      attemptIntent(world, intent, how.outcome ?? 'succeeds', how.method ?? null)
      invoice.attempts += 1
      invoice.charge = intent.charge
    }
    invoice.status = 'paid'
    invoice.amountPaid = invoice.amount
    invoice.paidAt = world.now(invoice.customer)
    invoice.nextAttempt = null
  })
  world.emit('invoice.paid', wire())
  if (how.outOfBand === true) return
  world.emit('invoice.payment_succeeded', wire())
  if (invoice.payment !== null) world.emit('invoice_payment.paid', invoicePaymentWire(world, invoice))
}

export const failInvoice = (
  world: World,
  invoice: InvoiceState,
  outcome: 'declines' | 'needs_action' | 'no_method' = 'declines',
  method: string | null = null,
): void => {
  const wire = () => invoiceWire(world, invoice)
  changing(world, 'invoice.updated', wire, () => {
    const intent = invoice.paymentIntent === null ? null : need(world, 'intent', invoice.paymentIntent)
    if (intent !== null && outcome !== 'no_method') attemptIntent(world, intent, outcome, method)
    invoice.attempts += 1
    const more = invoice.attempts < MAX_PAYMENT_ATTEMPTS && invoice.collection === 'charge_automatically'
    invoice.nextAttempt = more ? world.now(invoice.customer) + RETRY_AFTER : null
  })
  if (outcome === 'needs_action') world.emit('invoice.payment_action_required', wire())
  world.emit('invoice.payment_failed', wire())
}

export type Collected = 'failed' | 'paid' | 'processing'

/** Charges an open invoice by whatever the customer pays with, or as the verb decided. */
export const collectInvoice = (
  world: World,
  invoice: InvoiceState,
  decided?: Payment | 'processing',
  named?: string,
): Collected => {
  const sub = invoice.subscription === null ? undefined : world.store.subscription.get(invoice.subscription)
  const chosen = chooseMethod(world, invoice.customer, sub, named)
  const outcome: PaymentOutcome | 'no_method' =
    invoice.amount === 0 ? 'succeeds' : decided === undefined ? chosen.outcome : DECIDED[decided]
  if (outcome === 'succeeds' || outcome === 'inquiry') {
    settleInvoice(world, invoice, { outcome, method: chosen.method })
    return 'paid'
  }
  if (outcome === 'processing_succeeds' || outcome === 'processing_fails') {
    attemptIntent(world, need(world, 'intent', invoice.paymentIntent ?? ''), outcome, chosen.method)
    return 'processing'
  }
  failInvoice(world, invoice, outcome, chosen.method)
  return 'failed'
}

const DECIDED = {
  paid: 'succeeds',
  fails: 'declines',
  processing: 'processing_succeeds',
} as const

/** After an invoice changed: does its subscription become active again, or expire? */
export const followInvoice = (world: World, invoice: InvoiceState): void => {
  const sub = invoice.subscription === null ? undefined : world.store.subscription.get(invoice.subscription)
  if (sub === undefined) return
  const wire = () => subscriptionWire(world, sub)
  if (sub.status === 'incomplete' && (invoice.status === 'paid' || invoice.status === 'void')) {
    const paid = invoice.status === 'paid'
    changing(world, 'customer.subscription.updated', wire, () => {
      sub.status = paid ? 'active' : 'incomplete_expired'
      if (!paid) sub.endedAt = world.now(sub.customer)
    })
  } else if (sub.status === 'past_due' || sub.status === 'unpaid') {
    // The latest invoice that is neither void nor a draft decides.
    const latest = ownedBy(world.store, sub.customer, 'invoice').findLast(
      (each) => each.subscription === sub.id && each.status !== 'void' && each.status !== 'draft',
    )
    if (latest?.status === 'open') return
    changing(world, 'customer.subscription.updated', wire, () => {
      sub.status = 'active'
      sub.pastDueSince = null
    })
  }
}
