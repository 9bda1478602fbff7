// Invoices and money: draft, finalize, pay, fail, void, refund, dispute. Amounts are quantity times unit
// price; prorations, taxes and discounts are not simulated.

import { invalid } from '../errors.ts'
import { chargeWire, invoiceWire } from '../wire/invoice.ts'
import { disputeWire, refundWire, invoicePaymentWire } from '../wire/checkout.ts'
import { subscriptionWire } from '../wire/subscription.ts'
import { ownedBy, put } from '../state.ts'
import type { Collection, InvoiceState, LineState, SubState } from '../state.ts'
import { changing, liveCustomer, need } from '../world.ts'
import type { World } from '../world.ts'

const DAY = 86_400
const RETRY_AFTER = 3 * DAY
// Stripe's usual number of tries before the subscription's final state.
const MAX_PAYMENT_ATTEMPTS = 4

export type InvoiceDraft = {
  customer: string
  sub: SubState | null
  lines: Omit<LineState, 'id'>[]
  reason: InvoiceState['reason']
  collection: Collection
}

export const draftInvoice = (world: World, draft: InvoiceDraft): InvoiceState => {
  const invoice: InvoiceState = {
    id: world.id('in'),
    created: world.now(draft.customer),
    customer: draft.customer,
    subscription: draft.sub?.id ?? null,
    subscriptionMetadata: { ...draft.sub?.metadata },
    status: 'draft',
    amount: draft.lines.reduce((sum, line) => sum + line.amount, 0),
    amountPaid: 0,
    reason: draft.reason,
    collection: draft.collection,
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
  if (invoice.collection === 'send_invoice') invoice.dueDate = now + 30 * DAY
  if (invoice.amount > 0) {
    invoice.paymentIntent = world.id('pi')
    invoice.payment = world.id('inpay')
  }
  world.emit('invoice.finalized', invoiceWire(world, invoice))
}

export const settleInvoice = (world: World, invoice: InvoiceState): void => {
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalid(`Invoice is already ${invoice.status}`, undefined, 'invoice_not_open')
  }
  const wire = () => invoiceWire(world, invoice)
  changing(world, 'invoice.updated', wire, () => {
    invoice.status = 'paid'
    invoice.amountPaid = invoice.amount
    invoice.paidAt = world.now(invoice.customer)
    invoice.nextAttempt = null
    if (invoice.amount === 0) return
    invoice.attempts += 1
    invoice.charge = recordCharge(world, invoice, false)
  })
  world.emit('invoice.paid', wire())
  world.emit('invoice.payment_succeeded', wire())
  if (invoice.payment !== null) world.emit('invoice_payment.paid', invoicePaymentWire(world, invoice))
}

export const failInvoice = (world: World, invoice: InvoiceState): void => {
  const wire = () => invoiceWire(world, invoice)
  changing(world, 'invoice.updated', wire, () => {
    invoice.attempts += 1
    const more = invoice.attempts < MAX_PAYMENT_ATTEMPTS && invoice.collection === 'charge_automatically'
    invoice.nextAttempt = more ? world.now(invoice.customer) + RETRY_AFTER : null
    recordCharge(world, invoice, true)
  })
  world.emit('invoice.payment_failed', wire())
}

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

export const payInvoice = (world: World, id: string): InvoiceState => {
  const invoice = need(world, 'invoice', id, 'invoice')
  if (invoice.status === 'draft') finalizeInvoice(world, invoice)
  settleInvoice(world, invoice)
  followInvoice(world, invoice)
  return invoice
}

export const voidInvoice = (world: World, id: string): InvoiceState =>
  closeInvoice(world, id, 'void', 'invoice.voided')

export const markUncollectible = (world: World, id: string): InvoiceState =>
  closeInvoice(world, id, 'uncollectible', 'invoice.marked_uncollectible')

export const oneOffInvoice = (
  world: World,
  input: { customer: string; amount: number; payment?: 'paid' | 'fails' | 'open' },
): InvoiceState => {
  const customer = liveCustomer(world, input.customer)
  const now = world.now(customer.id)
  const line = { price: null, item: null, quantity: 1, amount: input.amount, start: now, end: now }
  const invoice = draftInvoice(world, {
    customer: customer.id,
    sub: null,
    lines: [line],
    reason: 'manual',
    collection: 'charge_automatically',
  })
  announceInvoice(world, invoice)
  finalizeInvoice(world, invoice)
  const payment = input.payment ?? (customer.failPayments ? 'fails' : 'paid')
  if (payment === 'paid') settleInvoice(world, invoice)
  if (payment === 'fails') failInvoice(world, invoice)
  return invoice
}

export const refundInvoice = (world: World, invoiceId: string, amount?: number) => {
  const charge = chargeOf(world, invoiceId)
  const refund = put(world.store, 'refund', {
    id: world.id('re'),
    created: world.now(charge.customer),
    customer: charge.customer,
    amount: amount ?? charge.amount - charge.refunded,
    charge: charge.id,
    paymentIntent: charge.paymentIntent,
  })
  if (refund.amount <= 0 || charge.refunded + refund.amount > charge.amount) {
    throw invalid(
      'Refund amount is greater than unrefunded amount on charge',
      'amount',
      'charge_already_refunded',
    )
  }
  charge.refunded += refund.amount
  world.emit('refund.created', refundWire(refund))
  world.emit('charge.refunded', chargeWire(world, charge))
  return refund
}

export const disputeInvoice = (world: World, invoiceId: string) => {
  const charge = chargeOf(world, invoiceId)
  charge.disputed = true
  const dispute = put(world.store, 'dispute', {
    id: world.id('du'),
    created: world.now(charge.customer),
    customer: charge.customer,
    amount: charge.amount,
    charge: charge.id,
    paymentIntent: charge.paymentIntent,
    status: 'needs_response',
  })
  world.emit('charge.dispute.created', disputeWire(world, dispute))
  return dispute
}

const closeInvoice = (
  world: World,
  id: string,
  status: 'void' | 'uncollectible',
  type: string,
): InvoiceState => {
  const invoice = need(world, 'invoice', id, 'invoice')
  if (invoice.status !== 'open' && !(status === 'void' && invoice.status === 'uncollectible')) {
    throw invalid(`This invoice is ${invoice.status}: it cannot become ${status}.`)
  }
  invoice.status = status
  invoice.nextAttempt = null
  if (status === 'void') invoice.voidedAt = world.now(invoice.customer)
  else invoice.uncollectibleAt = world.now(invoice.customer)
  world.emit(type, invoiceWire(world, invoice))
  followInvoice(world, invoice)
  return invoice
}

const recordCharge = (world: World, invoice: InvoiceState, failed: boolean): string => {
  const charge = put(world.store, 'charge', {
    id: world.id('ch'),
    created: world.now(invoice.customer),
    customer: invoice.customer,
    amount: invoice.amount,
    refunded: 0,
    disputed: false,
    failed,
    invoice: invoice.id,
    paymentIntent: invoice.paymentIntent ?? '',
  })
  world.emit(failed ? 'charge.failed' : 'charge.succeeded', chargeWire(world, charge))
  return charge.id
}

const chargeOf = (world: World, invoiceId: string) => {
  const invoice = need(world, 'invoice', invoiceId, 'invoice')
  if (invoice.charge === null) throw invalid(`Invoice ${invoiceId} has no successful charge.`)
  return need(world, 'charge', invoice.charge)
}
