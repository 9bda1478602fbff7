// The routes of products, prices, plans and coupons.

import { missing } from '../errors.ts'
import { createCoupon, deleteCoupon, updateCoupon } from '../life/coupons.ts'
import { deletePlan, deleteProduct, updatePrice, updateProduct } from '../life/catalog.ts'
import { INTERVALS, type CouponState } from '../records.ts'
import { deletedPlanWire, deletedProductWire } from '../wire/catalog.ts'
import { planWire, priceWire, productWire } from '../wire/catalog.ts'
import { couponWire, deletedCouponWire } from '../wire/discounts.ts'
import { need } from '../world.ts'
import { bool, given, hash, int, metadataOf, str, strings, word } from './form.ts'
import { page, retrieve } from './routing.ts'
import type { Route, RouteContext } from './routing.ts'

const createPrice = ({ world, shop, body }: RouteContext) => {
  const recurring = hash(body, 'recurring')
  const named = hash(body, 'product_data')
  const product =
    named === undefined ? str(body, 'product') : shop.product(given({ name: str(named, 'name') })).id
  const { id } = shop.price({
    ...given({
      product,
      lookupKey: str(body, 'lookup_key'),
      nickname: str(body, 'nickname'),
      currency: str(body, 'currency'),
      metadata: metadataOf(body),
      intervalCount: recurring === undefined ? undefined : int(recurring, 'interval_count'),
    }),
    transferLookupKey: bool(body, 'transfer_lookup_key') ?? false,
    unitAmount: int(body, 'unit_amount') ?? 0,
    interval: recurring === undefined ? null : (word(recurring, 'interval', INTERVALS) ?? 'month'),
    usageType: recurring !== undefined && str(recurring, 'usage_type') === 'metered' ? 'metered' : 'licensed',
  })
  return priceWire(world, need(world, 'price', id))
}

const changePrice = ({ world, ids: [id = ''], body }: RouteContext) => {
  const patch = given({
    active: bool(body, 'active'),
    lookupKey: str(body, 'lookup_key'),
    metadata: metadataOf(body),
  })
  const transferLookupKey = bool(body, 'transfer_lookup_key') ?? false
  return priceWire(world, updatePrice(world, id, { ...patch, transferLookupKey }))
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

// The older form: one hash for price and period, the product by name or id.
const createPlan = ({ world, shop, body }: RouteContext) => {
  const named = hash(body, 'product')
  const product =
    named === undefined ? str(body, 'product') : shop.product(given({ name: str(named, 'name') })).id
  const { id } = shop.price({
    ...given({
      id: str(body, 'id'),
      product,
      currency: str(body, 'currency'),
      nickname: str(body, 'nickname'),
    }),
    unitAmount: int(body, 'amount') ?? 0,
    interval: word(body, 'interval', INTERVALS) ?? 'month',
  })
  return planWire(world, need(world, 'price', id))
}

const newCoupon = ({ world, body }: RouteContext) => {
  const durations: readonly CouponState['duration'][] = ['forever', 'once', 'repeating']
  const coupon = createCoupon(
    world,
    given({
      id: str(body, 'id'),
      name: str(body, 'name'),
      percentOff: str(body, 'percent_off') === undefined ? undefined : Number(str(body, 'percent_off')),
      amountOff: int(body, 'amount_off'),
      duration: word(body, 'duration', durations),
      durationInMonths: int(body, 'duration_in_months'),
    }),
  )
  return couponWire(world, coupon)
}

const plan: Route = [
  'GET',
  '/v1/plans/:id',
  ({ world, ids: [id = ''] }) => {
    const price = need(world, 'price', id)
    if (price.interval === null) throw missing('plan', id)
    return planWire(world, price)
  },
]

export const catalogRoutes: Route[] = [
  retrieve('/v1/products/:id', 'product'),
  [
    'GET',
    '/v1/products',
    (c) => page(c, c.world.store.product.values(), (each) => productWire(c.world, each)),
  ],
  [
    'POST',
    '/v1/products',
    ({ shop, body }) =>
      shop.product({
        name: 'Product',
        ...given({
          id: str(body, 'id'),
          name: str(body, 'name'),
          description: str(body, 'description'),
          metadata: metadataOf(body),
        }),
      }),
  ],
  [
    'POST',
    '/v1/products/:id',
    ({ world, ids: [id = ''], body }) => {
      const patch = given({
        name: str(body, 'name'),
        active: bool(body, 'active'),
        metadata: metadataOf(body),
      })
      return productWire(world, updateProduct(world, id, patch))
    },
  ],
  [
    'DELETE',
    '/v1/products/:id',
    ({ world, ids: [id = ''] }) => {
      deleteProduct(world, id)
      return deletedProductWire(id)
    },
  ],
  retrieve('/v1/prices/:id', 'price'),
  ['GET', '/v1/prices', listPrices],
  ['POST', '/v1/prices', createPrice],
  ['POST', '/v1/prices/:id', changePrice],
  plan,
  ['POST', '/v1/plans', createPlan],
  [
    'POST',
    '/v1/plans/:id',
    ({ world, ids: [id = ''], body }) =>
      planWire(world, updatePrice(world, id, given({ metadata: metadataOf(body) }))),
  ],
  [
    'DELETE',
    '/v1/plans/:id',
    ({ world, ids: [id = ''] }) => {
      deletePlan(world, id)
      return deletedPlanWire(id)
    },
  ],
  retrieve('/v1/coupons/:id', 'coupon'),
  ['GET', '/v1/coupons', (c) => page(c, c.world.store.coupon.values(), (each) => couponWire(c.world, each))],
  ['POST', '/v1/coupons', newCoupon],
  [
    'POST',
    '/v1/coupons/:id',
    ({ world, ids: [id = ''], body }) => couponWire(world, updateCoupon(world, id, metadataOf(body) ?? {})),
  ],
  [
    'DELETE',
    '/v1/coupons/:id',
    ({ world, ids: [id = ''] }) => {
      deleteCoupon(world, id)
      return deletedCouponWire(id)
    },
  ],
]
