// Subscription items: their prices, quantities and periods. The whole list replaced, or single items patched.

import { invalid, missing } from '../errors.ts'
import type { Interval, ItemState, PriceState, SubState } from '../records.ts'
import { need } from '../world.ts'
import type { World } from '../world.ts'

export type NewItem = { price: string; quantity?: number }
export type ItemPatch = { id?: string; price?: string; quantity?: number; deleted?: boolean }

export const newItem = (world: World, item: NewItem, start: number, end: number | null): ItemState => {
  const price = priceNamed(world, item.price)
  if (price.interval === null) throw invalid(`The price ${price.id} is not recurring.`, 'items[0][price]')
  return {
    id: world.id('si'),
    created: start,
    price: price.id,
    quantity: price.usageType === 'metered' ? null : (item.quantity ?? 1),
    periodStart: start,
    periodEnd: end ?? addInterval(start, price.interval, price.intervalCount),
  }
}

// The given list becomes the list of items. Same price, or the only one on both sides: the item keeps its id.
export const replaceItems = (world: World, sub: SubState, wanted: NewItem[]): void => {
  const only = sub.items.length === 1 && wanted.length === 1 ? sub.items[0] : undefined
  const kept = wanted.map((item) => {
    const same = only ?? sub.items.find((each) => each.price === item.price)
    if (same === undefined) return patchItem(world, sub, item)
    return patchItem(world, sub, { id: same.id, ...item })
  })
  sub.items = kept
}

export const patchItem = (world: World, sub: SubState, patch: ItemPatch): ItemState => {
  const now = world.now(sub.customer)
  if (patch.id === undefined) {
    const added = newItem(
      world,
      { price: patch.price ?? '', ...sizeOf(patch) },
      now,
      alignedEnd(world, sub, patch),
    )
    sub.items.push(added)
    return added
  }
  const item = sub.items.find((each) => each.id === patch.id)
  if (item === undefined) throw missing('subscription_item', patch.id, 'items[0][id]')
  if (patch.deleted === true) sub.items = sub.items.filter((each) => each !== item)
  if (patch.price !== undefined && patch.price !== item.price) {
    const fresh = newItem(world, { price: patch.price, ...sizeOf(patch, item.quantity) }, now, null)
    const sameInterval = intervalOf(world, item) === intervalOf(world, fresh)
    item.price = fresh.price
    item.quantity = fresh.quantity
    // Another interval starts a new period now; the trial's period stays.
    if (!sameInterval && sub.status !== 'trialing') {
      item.periodStart = fresh.periodStart
      item.periodEnd = fresh.periodEnd
    }
  } else if (patch.quantity !== undefined && item.quantity !== null) item.quantity = patch.quantity
  return item
}

const sizeOf = (patch: ItemPatch, before: number | null = null): { quantity?: number } => {
  const quantity = patch.quantity ?? before
  return quantity === null ? {} : { quantity }
}

// A new item joins the period of an item with the same interval.
const alignedEnd = (world: World, sub: SubState, patch: ItemPatch): number | null => {
  const price = priceNamed(world, patch.price ?? '')
  const interval = `${price.intervalCount} ${price.interval ?? 'month'}`
  return sub.items.find((item) => intervalOf(world, item) === interval)?.periodEnd ?? null
}

// In the list of items an unknown price is a bad request, not a missing page.
export const priceNamed = (world: World, id: string): PriceState => {
  const price = world.store.price.get(id)
  if (price === undefined) throw invalid(`No such price: '${id}'`, 'items[0][price]', 'resource_missing')
  return price
}

/** Some calendar intervals later; the 31st becomes the last day of a shorter month. */
export const addInterval = (seconds: number, interval: Interval, count = 1): number => {
  if (interval === 'day' || interval === 'week')
    return seconds + count * (interval === 'day' ? 1 : 7) * 86_400
  const date = new Date(seconds * 1000)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + count * (interval === 'year' ? 12 : 1))
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, last))
  return date.getTime() / 1000
}

/** One period of the item later. */
export const periodAfter = (world: World, item: ItemState, start: number): number => {
  const price = need(world, 'price', item.price)
  return addInterval(start, price.interval ?? 'month', price.intervalCount)
}

const intervalOf = (world: World, item: ItemState): string => {
  const price = need(world, 'price', item.price)
  return `${price.intervalCount} ${price.interval ?? 'month'}`
}
