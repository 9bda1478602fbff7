// The routes of invoices, their items and payments.

import { createInvoiceItem, deleteInvoiceItem } from '../life/invoice-items.ts'
import {
  createInvoice,
  deleteInvoice,
  markUncollectible,
  sendInvoice,
  tryToPay,
  updateInvoice,
  voidInvoice,
} from '../life/invoice-verbs.ts'
import { finalizeInvoice } from '../life/invoices.ts'
import type { InvoiceState } from '../records.ts'
import { ownedBy } from '../state.ts'
import { invoicePaymentWire } from '../wire/checkout.ts'
import {
  deletedInvoiceItemWire,
  deletedInvoiceWire,
  invoiceItemWire,
  invoiceWire,
  lineWire,
} from '../wire/invoice.ts'
import { need } from '../world.ts'
import type { World } from '../world.ts'
import { bool, given, hash, int, metadataOf, str } from './form.ts'
import { page, retrieve } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'

const listInvoices = (context: RouteContext) => {
  const { world, query } = context
  const customer = str(query, 'customer')
  const subscription = str(query, 'subscription')
  const status = str(query, 'status')
  const all =
    customer === undefined ? [...world.store.invoice.values()] : ownedBy(world.store, customer, 'invoice')
  const shown = all.filter(
    (invoice) =>
      (subscription === undefined || invoice.subscription === subscription) &&
      (status === undefined || invoice.status === status),
  )
  return page(context, shown, (invoice) => invoiceWire(world, invoice))
}

const newInvoice = ({ world, body }: RouteContext) => {
  const sent = str(body, 'collection_method') === 'send_invoice'
  const invoice = createInvoice(world, {
    customer: str(body, 'customer') ?? '',
    includePending: str(body, 'pending_invoice_items_behavior') === 'include',
    ...(sent ? { collection: 'send_invoice' as const } : {}),
    ...given({
      daysUntilDue: int(body, 'days_until_due'),
      description: str(body, 'description'),
      currency: str(body, 'currency'),
      metadata: metadataOf(body),
    }),
  })
  return invoiceWire(world, invoice)
}

type InvoiceVerb = (world: World, invoice: InvoiceState, context: RouteContext) => unknown

const invoiceRoute = (name: string, verb: InvoiceVerb): Route => [
  'POST',
  `/v1/invoices/:id${name}`,
  (context) => {
    const { world } = context
    const invoice = need(world, 'invoice', context.ids[0] ?? '')
    world.mutate(invoice.customer, () => verb(world, invoice, context))
    return invoiceWire(world, invoice)
  },
]

const newItem = ({ world, body }: RouteContext) => {
  const item = createInvoiceItem(world, {
    customer: str(body, 'customer') ?? '',
    ...given({
      amount: int(body, 'amount'),
      price: str(hash(body, 'pricing') ?? {}, 'price') ?? str(body, 'price'),
      quantity: int(body, 'quantity'),
      currency: str(body, 'currency'),
      description: str(body, 'description'),
      metadata: metadataOf(body),
    }),
  })
  return invoiceItemWire(world, item)
}

const listLines = (context: RouteContext) => {
  const { world, ids } = context
  const invoice = need(world, 'invoice', ids[0] ?? '')
  const rows = invoice.lines.map((line) => ({ id: line.id, created: invoice.created, line }))
  return page(context, rows.toReversed(), ({ line }) => lineWire(world, invoice, line))
}

const listPayments = (context: RouteContext) => {
  const { world, query } = context
  const intent = str(hash(query, 'payment') ?? {}, 'payment_intent')
  const invoiceId = str(query, 'invoice')
  const paid = [...world.store.invoice.values()].filter(
    (invoice) =>
      invoice.payment !== null &&
      (intent === undefined || invoice.paymentIntent === intent) &&
      (invoiceId === undefined || invoice.id === invoiceId),
  )
  return page(context, paid, (invoice) => invoicePaymentWire(world, invoice))
}

export const invoiceRoutes: Route[] = [
  retrieve('/v1/invoices/:id', 'invoice'),
  ['GET', '/v1/invoices', listInvoices],
  ['GET', '/v1/invoices/:id/lines', listLines],
  ['POST', '/v1/invoices', newInvoice],
  invoiceRoute('', (world, { id }, { body }) =>
    updateInvoice(world, id, given({ metadata: metadataOf(body), description: str(body, 'description') })),
  ),
  invoiceRoute('/pay', (world, { id }, { body }) =>
    tryToPay(
      world,
      id,
      given({
        method: str(body, 'payment_method') ?? str(body, 'source'),
        outOfBand: bool(body, 'paid_out_of_band'),
      }),
    ),
  ),
  invoiceRoute('/void', (world, { id }) => voidInvoice(world, id)),
  invoiceRoute('/mark_uncollectible', (world, { id }) => markUncollectible(world, id)),
  invoiceRoute('/send', (world, { id }) => sendInvoice(world, id)),
  invoiceRoute('/finalize', (world, invoice) => finalizeInvoice(world, invoice)),
  [
    'DELETE',
    '/v1/invoices/:id',
    ({ world, ids: [id = ''] }) => {
      deleteInvoice(world, id)
      return deletedInvoiceWire(id)
    },
  ],
  retrieve('/v1/invoiceitems/:id', 'invoiceitem'),
  ['POST', '/v1/invoiceitems', newItem],
  [
    'DELETE',
    '/v1/invoiceitems/:id',
    ({ world, ids: [id = ''] }) => {
      deleteInvoiceItem(world, id)
      return deletedInvoiceItemWire(id)
    },
  ],
  ['GET', '/v1/invoice_payments', listPayments],
]
