// Products, prices, customers and test clocks of one account.

import { cancelSubscription, mergeMetadata, toSeconds } from './subscriptions.ts'
import { invalid } from '../errors.ts'
import { clockWire, customerWire, priceWire, productWire } from '../wire/catalog.ts'
import { ownedBy, put } from '../state.ts'
import type { ClockState, CustomerState, Metadata, PriceState, ProductState } from '../state.ts'
import { changing, liveCustomer, need, noteLink } from '../world.ts'
import type { World } from '../world.ts'

export type ProductInput = { id?: string; name?: string; metadata?: Metadata }
export type PriceInput = {
  id?: string
  product?: string
  lookupKey?: string
  transferLookupKey?: boolean
  unitAmount?: number
  interval?: 'month' | 'year' | null
  usageType?: 'licensed' | 'metered'
}
export type CustomerInput = {
  id?: string
  email?: string
  metadata?: Metadata
  testClock?: { frozenTime: number } | string
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
    unitAmount: input.unitAmount ?? 1_000,
    interval: input.interval === undefined ? 'month' : input.interval,
    usageType: input.usageType ?? 'licensed',
    active: true,
    metadata: {},
  })
  world.emit('price.created', priceWire(world, price))
  return price
}

export const updatePrice = (
  world: World,
  id: string,
  patch: { lookupKey?: string | null; transferLookupKey?: boolean; active?: boolean },
): PriceState => {
  const price = need(world, 'price', id)
  if (typeof patch.lookupKey === 'string' && patch.lookupKey !== price.lookupKey) {
    freeLookupKey(world, patch.lookupKey, patch.transferLookupKey ?? false)
  }
  changing(
    world,
    'price.updated',
    () => priceWire(world, price),
    () => {
      if (patch.active !== undefined) price.active = patch.active
      if (patch.lookupKey !== undefined) setLookupKey(price, patch.lookupKey)
    },
  )
  return price
}

export const createCustomer = (world: World, input: CustomerInput): CustomerState => {
  const id = input.id ?? world.id('cus')
  refuseTaken(world.store.customer.has(id), 'Customer', id)
  const clock = input.testClock === undefined ? null : clockFor(world, input.testClock)
  const customer = put(world.store, 'customer', {
    id,
    created: clock?.frozenTime ?? world.now(),
    email: input.email ?? null,
    metadata: { ...input.metadata },
    deleted: false,
    testClock: clock?.id ?? null,
    failPayments: false,
  })
  noteLink(world, id, customer.metadata['tenant_id'])
  world.emit('customer.created', customerWire(world, customer))
  return customer
}

export const updateCustomer = (
  world: World,
  id: string,
  patch: { metadata?: Metadata; email?: string },
): CustomerState => {
  const customer = liveCustomer(world, id)
  changing(
    world,
    'customer.updated',
    () => customerWire(world, customer),
    () => {
      if (patch.email !== undefined) customer.email = patch.email
      if (patch.metadata === undefined) return
      customer.metadata = mergeMetadata(customer.metadata, patch.metadata)
      noteLink(world, id, patch.metadata['tenant_id'])
    },
  )
  return customer
}

/** Cancels the customer's subscriptions, then the customer reads as deleted. */
export const deleteCustomer = (world: World, id: string): CustomerState => {
  const customer = liveCustomer(world, id)
  for (const sub of ownedBy(world.store, id, 'subscription')) {
    if (sub.endedAt === null) cancelSubscription(world, sub.id)
  }
  world.emit('customer.deleted', customerWire(world, customer))
  customer.deleted = true
  return customer
}

export const createClock = (world: World, frozenTimeMs: number, name: string | null = null): ClockState => {
  const clock = put(world.store, 'clock', {
    id: world.id('clock'),
    created: world.now(),
    frozenTime: toSeconds(frozenTimeMs),
    name,
  })
  world.emit('test_helpers.test_clock.created', clockWire(world, clock))
  return clock
}

const clockFor = (world: World, given: { frozenTime: number } | string): ClockState =>
  typeof given === 'string' ? need(world, 'clock', given, 'test_clock') : createClock(world, given.frozenTime)

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

const refuseTaken = (taken: boolean, kind: string, id: string): void => {
  if (taken) throw invalid(`${kind} already exists: ${id}`, 'id', 'resource_already_exists')
}
