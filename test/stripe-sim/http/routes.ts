// The routes of catalogue, customers, payments, events and clocks. Subscriptions and invoices: routes-
// billing.ts.

import { createClock } from '../life/catalog.ts'
import type { CustomerInput } from '../life/catalog.ts'
import { missing } from '../errors.ts'
import { bool, hash, int, str, stringMap, strings } from './form.ts'
import type { Params } from './form.ts'
import { findWire } from './lookup.ts'
import { page } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'
import { chargeWire } from '../wire/invoice.ts'
import { sessionWire, invoicePaymentWire } from '../wire/checkout.ts'
import { clockWire, customerWire, priceWire, productWire } from '../wire/catalog.ts'
import { billingRoutes } from './routes-billing.ts'
import type { StripeEvent } from '../world.ts'

/** One object by the id in the path; `word` is what Stripe calls it in the error. */
const retrieve = (path: string, word: string): Route => [
  'GET',
  path,
  ({ world, ids: [id = ''] }) => {
    const wire = findWire(world, id)
    if (wire === null || !('object' in wire) || wire.object !== word) throw missing(word, id)
    return wire
  },
]

const listCustomers = (context: RouteContext) => {
  const { world, query } = context
  const email = str(query, 'email')
  const clock = str(query, 'test_clock') ?? null
  // Plain lists leave out customers on a test clock.
  const shown = [...world.store.customer.values()].filter(
    (each) => !each.deleted && each.testClock === clock && (email === undefined || each.email === email),
  )
  return page(context, shown, (customer) => customerWire(world, customer))
}

const customerInput = (body: Params): CustomerInput => {
  const id = str(body, 'id')
  const email = str(body, 'email')
  const testClock = str(body, 'test_clock')
  return {
    ...(id === undefined ? {} : { id }),
    ...(email === undefined ? {} : { email }),
    ...(testClock === undefined ? {} : { testClock }),
    metadata: stringMap(hash(body, 'metadata')),
  }
}

const updateCustomer = ({ shop, ids: [id = ''], body }: RouteContext) => {
  const email = str(body, 'email')
  return shop.updateCustomer(id, {
    ...(email === undefined ? {} : { email }),
    metadata: stringMap(hash(body, 'metadata')),
  })
}

const createPrice = ({ shop, body }: RouteContext) => {
  const recurring = hash(body, 'recurring')
  const product = str(body, 'product')
  const lookupKey = str(body, 'lookup_key')
  return shop.price({
    ...(product === undefined ? {} : { product }),
    ...(lookupKey === undefined ? {} : { lookupKey }),
    transferLookupKey: bool(body, 'transfer_lookup_key') ?? false,
    unitAmount: int(body, 'unit_amount') ?? 0,
    interval: recurring === undefined ? null : str(recurring, 'interval') === 'year' ? 'year' : 'month',
    usageType: recurring !== undefined && str(recurring, 'usage_type') === 'metered' ? 'metered' : 'licensed',
  })
}

const updatePrice = ({ shop, ids: [id = ''], body }: RouteContext) => {
  const active = bool(body, 'active')
  const lookupKey = str(body, 'lookup_key')
  return shop.updatePrice(id, {
    ...(active === undefined ? {} : { active }),
    ...(lookupKey === undefined ? {} : { lookupKey }),
    transferLookupKey: bool(body, 'transfer_lookup_key') ?? false,
  })
}

const listPrices = (context: RouteContext) => {
  const { world, query } = context
  const keys = strings(query, 'lookup_keys')
  const product = str(query, 'product')
  const active = bool(query, 'active')
  const shown = [...world.store.price.values()].filter(
    (price) =>
      (keys.length === 0 || keys.includes(price.lookupKey ?? '')) &&
      (product === undefined || price.product === product) &&
      (active === undefined || price.active === active),
  )
  return page(context, shown, (price) => priceWire(world, price))
}

const listEvents = (context: RouteContext) => {
  const { world, query } = context
  const type = str(query, 'type')
  const types = strings(query, 'types')
  const delivered = bool(query, 'delivery_success')
  const wanted = (event: StripeEvent) =>
    (type === undefined || matchesType(event.type, type)) &&
    (types.length === 0 || types.some((each) => matchesType(event.type, each))) &&
    (delivered === undefined || (event.pending_webhooks === 0) === delivered)
  return page(context, world.events.filter(wanted), (event) => event)
}

const matchesType = (type: string, pattern: string): boolean =>
  pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern

const listInvoicePayments = (context: RouteContext) => {
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

const listSessions = (context: RouteContext) => {
  const { world, query } = context
  const customer = str(query, 'customer')
  const subscription = str(query, 'subscription')
  const shown = [...world.store.session.values()].filter(
    (session) =>
      (customer === undefined || session.customer === customer) &&
      (subscription === undefined || session.subscription === subscription),
  )
  return page(context, shown, (session) => sessionWire(world, session))
}

export const routes: Route[] = [
  [
    'GET',
    '/v1/account',
    ({ world }) => ({
      id: world.account.id,
      object: 'account',
      country: 'US',
      default_currency: 'usd',
      email: `${world.account.name}@example.com`,
      charges_enabled: true,
      details_submitted: true,
      payouts_enabled: true,
      type: 'standard',
    }),
  ],
  retrieve('/v1/customers/:id', 'customer'),
  ['GET', '/v1/customers', listCustomers],
  ['POST', '/v1/customers', ({ shop, body }) => shop.customer(customerInput(body))],
  ['POST', '/v1/customers/:id', updateCustomer],
  ['DELETE', '/v1/customers/:id', ({ shop, ids: [id = ''] }) => shop.deleteCustomer(id)],
  retrieve('/v1/products/:id', 'product'),
  [
    'GET',
    '/v1/products',
    (c) => page(c, c.world.store.product.values(), (each) => productWire(c.world, each)),
  ],
  [
    'POST',
    '/v1/products',
    ({ shop, body }) => {
      const id = str(body, 'id')
      return shop.product({ ...(id === undefined ? {} : { id }), name: str(body, 'name') ?? 'Product' })
    },
  ],
  retrieve('/v1/prices/:id', 'price'),
  ['GET', '/v1/prices', listPrices],
  ['POST', '/v1/prices', createPrice],
  ['POST', '/v1/prices/:id', updatePrice],
  retrieve('/v1/checkout/sessions/:id', 'checkout.session'),
  ['GET', '/v1/checkout/sessions', listSessions],
  retrieve('/v1/charges/:id', 'charge'),
  ['GET', '/v1/charges', (c) => page(c, c.world.store.charge.values(), (each) => chargeWire(c.world, each))],
  retrieve('/v1/refunds/:id', 'refund'),
  retrieve('/v1/disputes/:id', 'dispute'),
  ['GET', '/v1/invoice_payments', listInvoicePayments],
  ['GET', '/v1/events', listEvents],
  [
    'GET',
    '/v1/events/:id',
    ({ world, ids: [id = ''] }) => {
      const event = world.events.find((each) => each.id === id)
      if (event === undefined) throw missing('event', id)
      return event
    },
  ],
  retrieve('/v1/test_helpers/test_clocks/:id', 'test_helpers.test_clock'),
  [
    'POST',
    '/v1/test_helpers/test_clocks',
    ({ world, body }) =>
      clockWire(world, createClock(world, (int(body, 'frozen_time') ?? 0) * 1000, str(body, 'name') ?? null)),
  ],
  [
    'POST',
    '/v1/test_helpers/test_clocks/:id/advance',
    ({ shop, ids: [id = ''], body }) => shop.advanceTestClock(id, (int(body, 'frozen_time') ?? 0) * 1000),
  ],
  ...billingRoutes,
]
