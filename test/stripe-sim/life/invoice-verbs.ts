// What is done to one invoice: made by hand, changed, sent, paid, given up, deleted.

import { apiError, declined, invalid } from '../errors.ts'
import type { Collection, InvoiceState, Metadata } from '../records.ts'
import { invoiceWire } from '../wire/invoice.ts'
import { changing, liveCustomer, need } from '../world.ts'
import type { World } from '../world.ts'
import { pendingLines, take } from './invoice-items.ts'
import {
  announceInvoice,
  collectInvoice,
  draftInvoice,
  finalizeInvoice,
  followInvoice,
  settleInvoice,
} from './invoices.ts'
import { chooseMethod, methodNamed } from './methods.ts'

export type InvoiceInput = {
  customer: string
  includePending: boolean
  collection?: Collection
  daysUntilDue?: number
  description?: string
  currency?: string
  metadata?: Metadata
}

export const createInvoice = (world: World, input: InvoiceInput): InvoiceState => {
  const customer = liveCustomer(world, input.customer)
  const lines = input.includePending ? pendingLines(world, customer.id) : []
  const { includePending, ...rest } = input
  const invoice = draftInvoice(world, {
    sub: null,
    reason: 'manual',
    collection: 'charge_automatically',
    ...rest,
    lines,
  })
  if (includePending) take(world, customer.id, invoice.id)
  announceInvoice(world, invoice)
  return invoice
}

export const updateInvoice = (
  world: World,
  id: string,
  patch: { metadata?: Metadata; description?: string },
): InvoiceState => {
  const invoice = need(world, 'invoice', id)
  changing(
    world,
    'invoice.updated',
    () => invoiceWire(world, invoice),
    () => {
      Object.assign(invoice.metadata, patch.metadata)
      if (patch.description !== undefined) invoice.description = patch.description
    },
  )
  return invoice
}

export const deleteInvoice = (world: World, id: string): void => {
  const invoice = need(world, 'invoice', id)
  if (invoice.status !== 'draft') throw invalid('You can only delete draft invoices.')
  world.store.invoice.delete(id)
  world.emit('invoice.deleted', invoiceWire(world, invoice))
}

export const sendInvoice = (world: World, id: string): InvoiceState => {
  const invoice = need(world, 'invoice', id)
  if (invoice.collection !== 'send_invoice')
    throw invalid('You can only manually send an invoice that is sent.')
  if (invoice.status === 'draft') finalizeInvoice(world, invoice)
  world.emit('invoice.sent', invoiceWire(world, invoice))
  return invoice
}

/** By verb: it is paid, whatever by. */
export const payInvoice = (world: World, id: string): InvoiceState => {
  const invoice = need(world, 'invoice', id, 'invoice')
  if (invoice.status === 'draft') finalizeInvoice(world, invoice)
  settleInvoice(world, invoice)
  followInvoice(world, invoice)
  return invoice
}

/** As the API does it: by the method given or the customer's own; a failure is an error of the call. */
export const tryToPay = (
  world: World,
  id: string,
  how: { method?: string; outOfBand?: boolean },
): InvoiceState => {
  const invoice = need(world, 'invoice', id)
  if (invoice.status === 'draft') finalizeInvoice(world, invoice)
  if (how.outOfBand === true) settleInvoice(world, invoice, { outOfBand: true })
  else charge(world, invoice, how.method === undefined ? undefined : methodNamed(world, how.method).id)
  followInvoice(world, invoice)
  return invoice
}

const charge = (world: World, invoice: InvoiceState, method?: string): void => {
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalid(`Invoice is already ${invoice.status}`, undefined, 'invoice_not_open')
  }
  const { outcome } = chooseMethod(world, invoice.customer, undefined, method)
  if (outcome === 'no_method' && invoice.amount > 0) throw noMethod()
  if (collectInvoice(world, invoice, undefined, method) !== 'failed') return
  throw outcome === 'needs_action' ? actionRequired() : declined()
}

/** What Stripe says where a charge is due and nothing is there to charge. */
export const noMethod = () =>
  invalid(
    'This customer has no attached payment source or default payment method. Please consider adding a default payment method.',
    undefined,
    'resource_missing',
  )

const actionRequired = () =>
  apiError(402, {
    type: 'card_error',
    code: 'invoice_payment_intent_requires_action',
    message: 'This payment requires additional user action before it can be completed successfully.',
    param: '',
  })

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
  const amount = { amount: input.amount, start: now, end: now, quantity: 1 }
  const line = { price: null, item: null, invoiceItem: null, description: null, ...amount }
  const invoice = draftInvoice(world, {
    customer: customer.id,
    sub: null,
    lines: [line],
    reason: 'manual',
    collection: 'charge_automatically',
  })
  announceInvoice(world, invoice)
  finalizeInvoice(world, invoice)
  if (input.payment !== 'open') collectInvoice(world, invoice, input.payment)
  return invoice
}

const closeInvoice = (
  world: World,
  id: string,
  status: 'void' | 'uncollectible',
  type: string,
): InvoiceState => {
  const invoice = need(world, 'invoice', id, 'invoice')
  // Stripe takes a draft that is marked uncollectible through its finalization.
  if (invoice.status === 'draft' && status === 'uncollectible') finalizeInvoice(world, invoice)
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
