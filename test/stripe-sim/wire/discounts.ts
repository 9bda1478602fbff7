// Wire objects of coupons and discounts. See catalog.ts for the conventions.

import type Stripe from 'stripe'
import type { CouponState, DiscountState } from '../records.ts'
import type { World } from '../world.ts'
import type { Wire } from './catalog.ts'

export const couponWire = (world: World, coupon: CouponState) =>
  ({
    id: coupon.id,
    object: 'coupon',
    amount_off: coupon.amountOff,
    created: coupon.created,
    currency: coupon.amountOff === null ? null : 'usd',
    duration: coupon.duration,
    duration_in_months: coupon.durationInMonths,
    livemode: world.account.livemode,
    max_redemptions: null,
    metadata: { ...coupon.metadata },
    name: coupon.name,
    percent_off: coupon.percentOff,
    redeem_by: null,
    times_redeemed: coupon.redeemed,
    valid: true,
  }) satisfies Wire<Stripe.Coupon>

export const deletedCouponWire = (id: string) =>
  ({ id, object: 'coupon', deleted: true }) satisfies Wire<Stripe.DeletedCoupon>

export const discountWire = (
  discount: DiscountState,
  of: { customer: string; subscription?: string; invoice?: string },
) =>
  ({
    id: discount.id,
    object: 'discount',
    checkout_session: null,
    customer: of.customer,
    customer_account: null,
    end: discount.end,
    invoice: of.invoice ?? null,
    invoice_item: null,
    promotion_code: null,
    source: { coupon: discount.coupon, type: 'coupon' },
    start: discount.start,
    subscription: of.subscription ?? null,
    subscription_item: null,
  }) satisfies Wire<Stripe.Discount>
