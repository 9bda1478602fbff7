// The routes of subscriptions, subscription items and invoices.

import { invalid, missing } from '../errors.ts'
import { bool, hash, hashes, int, str, stringMap } from './form.ts'
import type { Params } from './form.ts'
import { finalizeInvoice } from '../life/invoices.ts'
import type { ItemPatch } from '../life/items.ts'
import { page } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'
import { invoiceWire } from '../wire/invoice.ts'
import { itemWire, subscriptionWire } from '../wire/subscription.ts'
import { ownedBy } from '../state.ts'
import type { PauseBehavior, SubState } from '../state.ts'
import { patchItems } from '../life/subscriptions.ts'
import type { UpdateOptions } from '../life/subscriptions.ts'
import { need } from '../world.ts'

const listSubscriptions = (context: RouteContext) => {
  const { world, query } = context
  const customer = str(query, 'customer')
  const status = str(query, 'status')
  const price = str(query, 'price')
  const all =
    customer === undefined
      ? // Without a customer, those on test clocks are left out.
        [...world.store.subscription.values()].filter(
          (sub) => (world.store.customer.get(sub.customer)?.testClock ?? null) === null,
        )
      : ownedBy(world.store, customer, 'subscription')
  if (customer !== undefined && !world.store.customer.has(customer)) {
    throw missing('customer', customer, 'customer')
  }
  const shown = all.filter(
    (sub) => statusMatches(sub, status) && (price === undefined || sub.items.some((i) => i.price === price)),
  )
  return page(context, shown, (sub) => subscriptionWire(world, sub))
}

const statusMatches = (sub: SubState, wanted: string | undefined): boolean => {
  if (wanted === 'all') return true
  if (wanted === undefined) return sub.status !== 'canceled'
  if (wanted === 'ended') return sub.status === 'canceled' || sub.status === 'incomplete_expired'
  return sub.status === wanted
}

const createSubscription = ({ world, shop, body }: RouteContext) => {
  const now = world.now(str(body, 'customer'))
  const trialEnd = int(body, 'trial_end')
  const trialDays =
    int(body, 'trial_period_days') ?? (trialEnd === undefined ? undefined : (trialEnd - now) / 86_400)
  const backdate = int(body, 'backdate_start_date')
  const created = shop.subscribe(str(body, 'customer') ?? '', {
    items: hashes(body, 'items').map((item) => ({
      price: str(item, 'price') ?? '',
      quantity: int(item, 'quantity') ?? 1,
    })),
    metadata: stringMap(hash(body, 'metadata')),
    ...(trialDays === undefined ? {} : { trialDays }),
    ...(backdate === undefined ? {} : { backdateMs: (now - backdate) * 1000 }),
    ...(str(body, 'collection_method') === 'send_invoice' ? { collection: 'send_invoice' } : {}),
    ...(str(body, 'payment_behavior') === 'default_incomplete' ? { firstPayment: 'processing' } : {}),
  })
  const options = updateOptions(body)
  const later = options.cancelAt !== undefined || options.cancelAtPeriodEnd === true
  return subscriptionWire(
    world,
    need(world, 'subscription', later ? shop.updateSubscription(created.id, options).id : created.id),
  )
}

const updateSubscription = ({ world, shop, ids: [id = ''], body }: RouteContext) => {
  const sub = need(world, 'subscription', id)
  const patches = hashes(body, 'items').map(itemPatch)
  world.mutate(sub.customer, () => {
    if (patches.length > 0) patchItems(world, id, patches)
    shop.updateSubscription(id, updateOptions(body))
  })
  return subscriptionWire(world, sub)
}

const itemPatch = (item: Params): ItemPatch => {
  const id = str(item, 'id')
  const price = str(item, 'price')
  const quantity = int(item, 'quantity')
  return {
    ...(id === undefined ? {} : { id }),
    ...(price === undefined ? {} : { price }),
    ...(quantity === undefined ? {} : { quantity }),
    deleted: bool(item, 'deleted') ?? false,
  }
}

const updateOptions = (body: Params): UpdateOptions => {
  const metadata = hash(body, 'metadata')
  const atPeriodEnd = bool(body, 'cancel_at_period_end')
  const trialEnd = str(body, 'trial_end')
  const pause = hash(body, 'pause_collection')
  const resumesAt = pause === undefined ? undefined : int(pause, 'resumes_at')
  const options: UpdateOptions = {}
  if (metadata !== undefined) options.metadata = stringMap(metadata)
  if (atPeriodEnd !== undefined) options.cancelAtPeriodEnd = atPeriodEnd
  if (str(body, 'cancel_at') !== undefined) {
    const at = int(body, 'cancel_at')
    options.cancelAt = at === undefined ? null : at * 1000
  }
  if (trialEnd !== undefined) options.trialEnd = trialEnd === 'now' ? 'now' : Number(trialEnd) * 1000
  if (str(body, 'pause_collection') === '') options.pause = null
  if (pause !== undefined) {
    const behavior = (str(pause, 'behavior') ?? 'void') as PauseBehavior
    options.pause = { behavior, ...(resumesAt === undefined ? {} : { resumesAt: resumesAt * 1000 }) }
  }
  return options
}

const listItems = (context: RouteContext) => {
  const id = str(context.query, 'subscription')
  if (id === undefined) throw invalid('Missing required param: subscription.', 'subscription')
  const sub = need(context.world, 'subscription', id, 'subscription')
  // Items are listed in their own order, so the oldest-first convention of `page` is turned round.
  return page(context, sub.items.toReversed(), (item) => itemWire(context.world, sub, item))
}

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

type InvoiceVerb = (context: RouteContext, id: string) => unknown

const invoiceRoute = (name: string, verb: InvoiceVerb): Route => [
  'POST',
  `/v1/invoices/:id/${name}`,
  (context) => {
    const [id = ''] = context.ids
    verb(context, id)
    return invoiceWire(context.world, need(context.world, 'invoice', id))
  },
]

const retrieveSubscription: Route = [
  'GET',
  '/v1/subscriptions/:id',
  ({ world, ids: [id = ''] }) => subscriptionWire(world, need(world, 'subscription', id)),
]

const retrieveInvoice: Route = [
  'GET',
  '/v1/invoices/:id',
  ({ world, ids: [id = ''] }) => invoiceWire(world, need(world, 'invoice', id)),
]

const subscriptionAfter = ({ world, ids: [id = ''] }: RouteContext, verb: (id: string) => unknown) => {
  verb(id)
  return subscriptionWire(world, need(world, 'subscription', id))
}

export const billingRoutes: Route[] = [
  retrieveSubscription,
  ['GET', '/v1/subscriptions', listSubscriptions],
  ['POST', '/v1/subscriptions', createSubscription],
  ['POST', '/v1/subscriptions/:id', updateSubscription],
  ['POST', '/v1/subscriptions/:id/resume', (c) => subscriptionAfter(c, c.shop.resume)],
  ['DELETE', '/v1/subscriptions/:id', (c) => subscriptionAfter(c, c.shop.cancel)],
  ['GET', '/v1/subscription_items', listItems],
  retrieveInvoice,
  ['GET', '/v1/invoices', listInvoices],
  invoiceRoute('pay', ({ shop }, id) => shop.payInvoice(id)),
  invoiceRoute('void', ({ shop }, id) => shop.voidInvoice(id)),
  invoiceRoute('mark_uncollectible', ({ shop }, id) => shop.markUncollectible(id)),
  invoiceRoute('finalize', ({ world }, id) => {
    const invoice = need(world, 'invoice', id)
    world.mutate(invoice.customer, () => finalizeInvoice(world, invoice))
  }),
]
