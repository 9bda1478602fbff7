// Products and prices of one account.

import { invalid } from '../errors.ts'
import { planWire, priceWire, productWire } from '../wire/catalog.ts'
import { put } from '../state.ts'
import type { Interval, Metadata, PriceState, ProductState } from '../records.ts'
import { changing, need } from '../world.ts'
import type { World } from '../world.ts'
import { previousAttributes as previousOf } from '../wire/render.ts'

export type ProductInput = { id?: string; name?: string; description?: string; metadata?: Metadata }
export type PriceInput = {
  id?: string
  product?: string
  lookupKey?: string
  transferLookupKey?: boolean
  nickname?: string
  currency?: string
  unitAmount?: number
  interval?: Interval | null
  intervalCount?: number
  usageType?: 'licensed' | 'metered'
  metadata?: Metadata
}

export const createProduct = (world: World, input: ProductInput): ProductState => {
  const now = world.now()
  const id = input.id ?? world.id('prod')
  refuseTaken(world.store.product.has(id), 'Product', id)
  const product = put(world.store, 'product', {
    id,
    created: now,
    updated: now,
    name: input.name ?? id,
    description: input.description ?? null,
    active: true,
    metadata: { ...input.metadata },
  })
  world.emit('product.created', productWire(world, product))
  return product
}

// A price without a product gets one of its own; an unknown product id is created, to keep tests short.
export const createPrice = (world: World, input: PriceInput): PriceState => {
  const id = input.id ?? world.id('price')
  refuseTaken(world.store.price.has(id), 'Price', id)
  const known = input.product !== undefined && world.store.product.has(input.product)
  const product = known
    ? (input.product ?? '')
    : createProduct(world, input.product === undefined ? {} : { id: input.product }).id
  if (input.lookupKey !== undefined) freeLookupKey(world, input.lookupKey, input.transferLookupKey ?? false)
  const price = put(world.store, 'price', {
    id,
    created: world.now(),
    product,
    lookupKey: input.lookupKey ?? null,
    formerLookupKeys: [],
    nickname: input.nickname ?? null,
    currency: input.currency ?? 'usd',
    unitAmount: input.unitAmount ?? 1_000,
    interval: input.interval === undefined ? 'month' : input.interval,
    intervalCount: input.intervalCount ?? 1,
    usageType: input.usageType ?? 'licensed',
    active: true,
    metadata: { ...input.metadata },
  })
  // Prices were plans once, and recurring ones are announced as both.
  if (price.interval !== null) world.emit('plan.created', planWire(world, price))
  world.emit('price.created', priceWire(world, price))
  return price
}

export const updatePrice = (
  world: World,
  id: string,
  patch: {
    lookupKey?: string | null
    transferLookupKey?: boolean
    active?: boolean
    metadata?: Metadata
  },
): PriceState => {
  const price = need(world, 'price', id)
  if (typeof patch.lookupKey === 'string' && patch.lookupKey !== price.lookupKey) {
    freeLookupKey(world, patch.lookupKey, patch.transferLookupKey ?? false)
  }
  const asPlan = planWire(world, price)
  changing(
    world,
    'price.updated',
    () => priceWire(world, price),
    () => {
      Object.assign(price.metadata, patch.metadata)
      if (patch.active !== undefined) price.active = patch.active
      if (patch.lookupKey !== undefined) setLookupKey(price, patch.lookupKey)
    },
  )
  const previousAttributes = previousOf(asPlan, planWire(world, price))
  if (price.interval !== null && previousAttributes !== null) {
    world.emit('plan.updated', planWire(world, price), { previousAttributes })
  }
  return price
}

/** A plan is its price; deleting it takes the price out of use. */
export const deletePlan = (world: World, id: string): void => {
  const price = need(world, 'price', id)
  price.active = false
  world.emit('plan.deleted', planWire(world, price))
  world.emit('price.deleted', priceWire(world, price))
}

export const updateProduct = (
  world: World,
  id: string,
  patch: { name?: string; active?: boolean; metadata?: Metadata },
): ProductState => {
  const product = need(world, 'product', id)
  changing(
    world,
    'product.updated',
    () => productWire(world, product),
    () => {
      if (patch.name !== undefined) product.name = patch.name
      if (patch.active !== undefined) product.active = patch.active
      Object.assign(product.metadata, patch.metadata)
      product.updated = world.now()
    },
  )
  return product
}

export const deleteProduct = (world: World, id: string): void => {
  const product = need(world, 'product', id)
  if ([...world.store.price.values()].some((price) => price.product === id)) {
    throw invalid('This product cannot be deleted because it has one or more user-created prices.', 'id')
  }
  world.store.product.delete(id)
  world.emit('product.deleted', productWire(world, product))
}

const freeLookupKey = (world: World, key: string, transfer: boolean): void => {
  const holder = [...world.store.price.values()].find((price) => price.lookupKey === key)
  if (holder === undefined) return
  if (!transfer) throw invalid(`A price (\`${holder.id}\`) already uses that lookup key.`, 'lookup_key')
  changing(
    world,
    'price.updated',
    () => priceWire(world, holder),
    () => setLookupKey(holder, null),
  )
}

const setLookupKey = (price: PriceState, key: string | null): void => {
  if (price.lookupKey !== null && price.lookupKey !== key) price.formerLookupKeys.push(price.lookupKey)
  price.lookupKey = key
}

export const refuseTaken = (taken: boolean, kind: string, id: string): void => {
  if (taken) throw invalid(`${kind} already exists: ${id}`, 'id', 'resource_already_exists')
}
