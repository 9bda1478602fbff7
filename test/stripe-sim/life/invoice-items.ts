// Invoice items: amounts that wait for the customer's next invoice.

import { invalid } from '../errors.ts'
import type { InvoiceItemState, LineState, Metadata } from '../records.ts'
import { ownedBy, put } from '../state.ts'
import { invoiceItemWire } from '../wire/invoice.ts'
import { liveCustomer, need } from '../world.ts'
import type { World } from '../world.ts'

export type InvoiceItemInput = {
  customer: string
  amount?: number
  price?: string
  quantity?: number
  currency?: string
  description?: string
  metadata?: Metadata
}

export const createInvoiceItem = (world: World, input: InvoiceItemInput): InvoiceItemState => {
  const customer = liveCustomer(world, input.customer)
  const price = input.price === undefined ? undefined : need(world, 'price', input.price, 'pricing[price]')
  const quantity = input.quantity ?? 1
  const item = put(world.store, 'invoiceItem', {
    id: world.id('ii'),
    created: world.now(customer.id),
    customer: customer.id,
    amount: price === undefined ? (input.amount ?? 0) : price.unitAmount * quantity,
    currency: price?.currency ?? input.currency ?? 'usd',
    quantity,
    description: input.description ?? null,
    price: price?.id ?? null,
    invoice: null,
    metadata: { ...input.metadata },
  })
  world.emit('invoiceitem.created', invoiceItemWire(world, item))
  return item
}

export const deleteInvoiceItem = (world: World, id: string): void => {
  const item = need(world, 'invoiceItem', id)
  const invoice = item.invoice === null ? undefined : world.store.invoice.get(item.invoice)
  if (invoice !== undefined && invoice.status !== 'draft') {
    throw invalid('You cannot delete an invoice item that is on a finalized invoice.')
  }
  world.store.invoiceItem.delete(id)
  world.emit('invoiceitem.deleted', invoiceItemWire(world, item))
}

/** What waits for this customer, as lines of an invoice; `take` them once the invoice has its id. */
export const pendingLines = (world: World, customer: string): Omit<LineState, 'id'>[] =>
  waiting(world, customer).map((item) => ({
    price: item.price,
    item: null,
    invoiceItem: item.id,
    description: item.description,
    quantity: item.quantity,
    amount: item.amount,
    start: item.created,
    end: item.created,
  }))

export const take = (world: World, customer: string, invoice: string): void => {
  for (const item of waiting(world, customer)) item.invoice = invoice
}

const waiting = (world: World, customer: string): InvoiceItemState[] =>
  ownedBy(world.store, customer, 'invoiceItem').filter((item) => item.invoice === null)
