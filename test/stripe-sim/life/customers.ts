// Customers and test clocks of one account.

import { invalid } from '../errors.ts'
import type { ClockState } from '../records-platform.ts'
import type { CustomerState, Metadata } from '../records.ts'
import { ownedBy, put } from '../state.ts'
import { clockWire, customerWire } from '../wire/catalog.ts'
import { changing, liveCustomer, need, noteLink } from '../world.ts'
import type { World } from '../world.ts'
import { refuseTaken } from './catalog.ts'
import { discountCustomer } from './coupons.ts'
import { attachMethod, methodNamed } from './methods.ts'
import { cancelSubscription, mergeMetadata, toSeconds } from './subscriptions.ts'

export type CustomerInput = {
  id?: string
  email?: string
  name?: string
  description?: string
  metadata?: Metadata
  testClock?: { frozenTime: number } | string
  /** Attached, and (as `source` did) the default. */
  source?: string
  /** Attached; the default only if also named there. */
  method?: string
  defaultMethod?: string
  coupon?: string
  /** By the API: what is not attached cannot be charged. */
  unseenCard?: boolean
}
export type CustomerPatch = {
  metadata?: Metadata
  email?: string
  name?: string
  description?: string
  defaultMethod?: string
  source?: string
  /** Null takes the discount away. */
  coupon?: string | null
}

export const createCustomer = (world: World, input: CustomerInput): CustomerState => {
  const id = input.id ?? world.id('cus')
  refuseTaken(world.store.customer.has(id), 'Customer', id)
  const clock = input.testClock === undefined ? null : clockFor(world, input.testClock)
  const customer = put(world.store, 'customer', {
    id,
    created: clock?.frozenTime ?? world.now(),
    email: input.email ?? null,
    name: input.name ?? null,
    description: input.description ?? null,
    metadata: { ...input.metadata },
    deleted: false,
    testClock: clock?.id ?? null,
    failPayments: false,
    defaultMethod: null,
    unseenCard: input.unseenCard ?? true,
    discount: null,
  })
  noteLink(world, id, customer.metadata['tenant_id'])
  const pending = [input.source, input.method].filter((name) => name !== undefined)
  const methods = pending.map((name) => ({ name, method: methodNamed(world, name) }))
  const preferred = input.source ?? input.defaultMethod
  customer.defaultMethod = methods.find(({ name }) => name === preferred)?.method.id ?? null
  world.emit('customer.created', customerWire(world, customer))
  for (const { method } of methods) attachMethod(world, method, id)
  if (input.coupon !== undefined) discountCustomer(world, customer, input.coupon)
  return customer
}

export const updateCustomer = (world: World, id: string, patch: CustomerPatch): CustomerState => {
  const customer = liveCustomer(world, id)
  if (patch.coupon !== undefined) discountCustomer(world, customer, patch.coupon)
  if (patch.source !== undefined) {
    const source = attachMethod(world, methodNamed(world, patch.source, 'source'), id)
    customer.defaultMethod = source.id
  }
  changing(
    world,
    'customer.updated',
    () => customerWire(world, customer),
    () => {
      if (patch.email !== undefined) customer.email = patch.email
      if (patch.name !== undefined) customer.name = patch.name
      if (patch.description !== undefined) customer.description = patch.description
      if (patch.defaultMethod !== undefined)
        customer.defaultMethod = ownMethod(world, id, patch.defaultMethod)
      if (patch.metadata === undefined) return
      customer.metadata = mergeMetadata(customer.metadata, patch.metadata)
      noteLink(world, id, patch.metadata['tenant_id'])
    },
  )
  return customer
}

const ownMethod = (world: World, customer: string, id: string): string => {
  if (need(world, 'method', id).customer === customer) return id
  throw invalid(
    'The customer does not have a payment method with that ID. The payment method must be attached to the customer first.',
    'invoice_settings[default_payment_method]',
  )
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
    advancing: false,
  })
  world.emit('test_helpers.test_clock.created', clockWire(world, clock))
  return clock
}

/** Its customers go with it, without a word. */
export const deleteClock = (world: World, id: string): void => {
  const clock = need(world, 'clock', id)
  world.store.clock.delete(id)
  for (const customer of world.store.customer.values()) if (customer.testClock === id) customer.deleted = true
  world.emit('test_helpers.test_clock.deleted', clockWire(world, clock))
}

const clockFor = (world: World, given: { frozenTime: number } | string): ClockState =>
  typeof given === 'string' ? need(world, 'clock', given, 'test_clock') : createClock(world, given.frozenTime)
