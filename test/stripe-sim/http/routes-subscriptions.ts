// The routes of subscriptions and subscription items.

import { invalid, missing } from '../errors.ts'
import { noMethod } from '../life/invoice-verbs.ts'
import { priceNamed } from '../life/items.ts'
import type { ItemPatch } from '../life/items.ts'
import { chooseMethod } from '../life/methods.ts'
import { patchItems } from '../life/subscriptions.ts'
import type { UpdateOptions } from '../life/subscriptions.ts'
import type { ItemState, PauseBehavior, SubState } from '../records.ts'
import { ownedBy } from '../state.ts'
import { deletedItemWire, itemWire, subscriptionWire } from '../wire/subscription.ts'
import { need } from '../world.ts'
import type { World } from '../world.ts'
import { bool, given, hash, hashes, int, str, stringMap, word } from './form.ts'
import type { Params } from './form.ts'
import { page, retrieve } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'

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
  const customer = str(body, 'customer') ?? ''
  const now = world.now(customer)
  const trialEnd = int(body, 'trial_end')
  const trialDays =
    int(body, 'trial_period_days') ?? (trialEnd === undefined ? undefined : (trialEnd - now) / 86_400)
  const backdate = int(body, 'backdate_start_date')
  const sent = str(body, 'collection_method') === 'send_invoice'
  const defaultMethod = str(body, 'default_payment_method')
  const incomplete = str(body, 'payment_behavior') === 'default_incomplete'
  for (const item of hashes(body, 'items')) priceNamed(world, str(item, 'price') ?? str(item, 'plan') ?? '')
  if (!sent && !incomplete && trialDays === undefined) refuseUnpayable(world, customer, defaultMethod)
  const trial = hash(hash(body, 'trial_settings') ?? {}, 'end_behavior')
  const created = shop.subscribe(customer, {
    items: hashes(body, 'items').map((item) => ({
      price: str(item, 'price') ?? str(item, 'plan') ?? '',
      quantity: int(item, 'quantity') ?? 1,
    })),
    metadata: stringMap(hash(body, 'metadata')),
    ...given({
      trialDays,
      backdateMs: backdate === undefined ? undefined : (now - backdate) * 1000,
      collection: sent ? ('send_invoice' as const) : undefined,
      firstPayment: incomplete ? ('open' as const) : undefined,
      daysUntilDue: int(body, 'days_until_due'),
      defaultMethod,
      coupon: couponIn(body),
      onTrialEnd: trial === undefined ? undefined : word(trial, 'missing_payment_method', AT_TRIAL_END),
    }),
  })
  const { cancelAt, cancelAtPeriodEnd } = updateOptions(body)
  if (cancelAt !== undefined || cancelAtPeriodEnd === true) {
    shop.updateSubscription(created.id, given({ cancelAt, cancelAtPeriodEnd }))
  }
  return subscriptionWire(world, need(world, 'subscription', created.id))
}

const AT_TRIAL_END = ['cancel', 'create_invoice', 'pause'] as const

// Stripe does not begin what it could not charge.
const refuseUnpayable = (world: World, customer: string, method: string | undefined): void => {
  if (chooseMethod(world, customer, undefined, method).outcome === 'no_method') throw noMethod()
}

const couponIn = (body: Params): string | undefined => {
  const [first] = hashes(body, 'discounts')
  return first === undefined ? str(body, 'coupon') : str(first, 'coupon')
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
  const defaultMethod = str(body, 'default_payment_method')
  const coupon = couponIn(body)
  if (defaultMethod !== undefined) options.defaultMethod = defaultMethod === '' ? null : defaultMethod
  if (coupon !== undefined) options.coupon = coupon === '' ? null : coupon
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

const subscriptionAfter = ({ world, ids: [id = ''] }: RouteContext, verb: (id: string) => unknown) => {
  verb(id)
  return subscriptionWire(world, need(world, 'subscription', id))
}

const newItem = ({ world, body }: RouteContext) => {
  const sub = need(world, 'subscription', str(body, 'subscription') ?? '', 'subscription')
  world.mutate(sub.customer, () => patchItems(world, sub.id, [itemPatch(body)]))
  return itemWire(world, sub, sub.items.at(-1) as ItemState)
}

const itemNamed = (world: World, id: string): { sub: SubState; item: ItemState } => {
  for (const sub of world.store.subscription.values()) {
    const item = sub.items.find((each) => each.id === id)
    if (item !== undefined) return { sub, item }
  }
  throw missing('subscription_item', id)
}

const changeItem = ({ world, ids: [id = ''], body }: RouteContext) => {
  const { sub, item } = itemNamed(world, id)
  world.mutate(sub.customer, () => patchItems(world, sub.id, [{ ...itemPatch(body), id }]))
  return itemWire(world, sub, item)
}

const deleteItem = ({ world, ids: [id = ''] }: RouteContext) => {
  const { sub } = itemNamed(world, id)
  world.mutate(sub.customer, () => patchItems(world, sub.id, [{ id, deleted: true }]))
  return deletedItemWire(id)
}

export const subscriptionRoutes: Route[] = [
  retrieve('/v1/subscriptions/:id', 'subscription'),
  ['GET', '/v1/subscriptions', listSubscriptions],
  ['POST', '/v1/subscriptions', createSubscription],
  ['POST', '/v1/subscriptions/:id', updateSubscription],
  ['POST', '/v1/subscriptions/:id/resume', (c) => subscriptionAfter(c, c.shop.resume)],
  ['DELETE', '/v1/subscriptions/:id', (c) => subscriptionAfter(c, c.shop.cancel)],
  ['GET', '/v1/subscription_items', listItems],
  ['POST', '/v1/subscription_items', newItem],
  ['POST', '/v1/subscription_items/:id', changeItem],
  ['DELETE', '/v1/subscription_items/:id', deleteItem],
]
