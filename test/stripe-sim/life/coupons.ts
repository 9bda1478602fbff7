// Coupons, and the discounts they become for a customer or a subscription.

import { invalid } from '../errors.ts'
import type { CouponState, CustomerState, DiscountState, Metadata, SubState } from '../records.ts'
import { put } from '../state.ts'
import { couponWire, discountWire } from '../wire/discounts.ts'
import { changing, need } from '../world.ts'
import type { World } from '../world.ts'

const MONTH = 30 * 86_400

export type CouponInput = {
  id?: string
  name?: string
  percentOff?: number
  amountOff?: number
  duration?: CouponState['duration']
  durationInMonths?: number
}

export const createCoupon = (world: World, input: CouponInput): CouponState => {
  if (input.percentOff === undefined && input.amountOff === undefined) {
    throw invalid('You must pass either percent_off or amount_off.', 'percent_off')
  }
  const coupon = put(world.store, 'coupon', {
    id: input.id ?? world.id('coup').slice(-8),
    created: world.now(),
    name: input.name ?? null,
    percentOff: input.percentOff ?? null,
    amountOff: input.amountOff ?? null,
    duration: input.duration ?? 'once',
    durationInMonths: input.durationInMonths ?? null,
    redeemed: 0,
    metadata: {},
  })
  world.emit('coupon.created', couponWire(world, coupon))
  return coupon
}

export const updateCoupon = (world: World, id: string, metadata: Metadata): CouponState => {
  const coupon = need(world, 'coupon', id)
  changing(
    world,
    'coupon.updated',
    () => couponWire(world, coupon),
    () => void Object.assign(coupon.metadata, metadata),
  )
  return coupon
}

/** Discounts that it became stay. */
export const deleteCoupon = (world: World, id: string): void => {
  const coupon = need(world, 'coupon', id)
  world.emit('coupon.deleted', { ...couponWire(world, coupon), valid: false })
  world.store.coupon.delete(id)
}

/** Null takes it away. */
export const discountCustomer = (world: World, customer: CustomerState, coupon: string | null): void => {
  const before = customer.discount
  customer.discount = coupon === null ? null : redeem(world, coupon, customer.id)
  announce(world, before, customer.discount, { customer: customer.id })
}

export const discountSubscription = (world: World, sub: SubState, coupon: string | null): void => {
  const before = sub.discount
  sub.discount = coupon === null ? null : redeem(world, coupon, sub.customer)
  announce(world, before, sub.discount, { customer: sub.customer, subscription: sub.id })
}

const redeem = (world: World, id: string, customer: string): DiscountState => {
  const coupon = need(world, 'coupon', id, 'coupon')
  const start = world.now(customer)
  coupon.redeemed += 1
  const months = coupon.duration === 'repeating' ? (coupon.durationInMonths ?? 1) : null
  return { id: world.id('di'), coupon: id, start, end: months === null ? null : start + months * MONTH }
}

const announce = (
  world: World,
  before: DiscountState | null,
  after: DiscountState | null,
  of: { customer: string; subscription?: string },
): void => {
  if (before !== null && after !== null) {
    const previousAttributes = { id: before.id, source: { coupon: before.coupon }, start: before.start }
    world.emit('customer.discount.updated', discountWire(after, of), { previousAttributes })
  } else if (after !== null) world.emit('customer.discount.created', discountWire(after, of))
  else if (before !== null) world.emit('customer.discount.deleted', discountWire(before, of))
}

/** What is taken off an amount of this customer's now; a subscription's own discount comes first. */
export const discountOn = (
  world: World,
  customerId: string,
  sub: SubState | null,
  amount: number,
): { discount: DiscountState; amount: number } | null => {
  const discount = sub?.discount ?? world.store.customer.get(customerId)?.discount ?? null
  const coupon = discount === null ? undefined : world.store.coupon.get(discount.coupon)
  if (discount === null || coupon === undefined || amount <= 0) return null
  if (discount.end !== null && discount.end <= world.now(customerId)) return null
  const off =
    coupon.percentOff === null ? (coupon.amountOff ?? 0) : Math.round((amount * coupon.percentOff) / 100)
  // `once` is used up by the first invoice.
  if (coupon.duration === 'once') discount.end = world.now(customerId)
  return { discount, amount: Math.min(off, amount) }
}
