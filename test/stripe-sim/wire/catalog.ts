// Wire objects of customers and catalogue, in the newest API version, from the state records. `satisfies
// Wire<...>` holds them to the SDK's types; fields that Stripe sends though its types lack them
// (subscription.plan, items.total_count, ...) are added beside. `_legacy` is what older versions say
// (render.ts).

import type Stripe from 'stripe'
import type { World } from '../world.ts'
import { discountWire } from './discounts.ts'
import type { ClockState } from '../records-platform.ts'
import type { CustomerState, PriceState, ProductState } from '../records.ts'

/** An SDK type as it travels: decimals are strings on the wire. */
export type Wire<T> = T extends Stripe.Decimal
  ? string
  : T extends (infer U)[]
    ? Wire<U>[]
    : T extends object
      ? { [K in keyof T]: Wire<T[K]> }
      : T

// An embedded list shows its first page only.
const EMBEDDED_PAGE = 10

export const embeddedList = <T>(all: T[], url: string) => ({
  object: 'list' as const,
  data: all.slice(0, EMBEDDED_PAGE),
  has_more: all.length > EMBEDDED_PAGE,
  total_count: all.length,
  url,
})

// Fixed by the first thing that has one.
const currencyOf = (world: World, customer: string): string | null => {
  const first = [...(world.store.owned.get(customer) ?? [])].find(([, kind]) => kind === 'invoice')
  return first === undefined ? null : (world.store.invoice.get(first[0])?.currency ?? null)
}

export const customerWire = (world: World, customer: CustomerState) =>
  ({
    id: customer.id,
    object: 'customer',
    address: null,
    balance: 0,
    created: customer.created,
    currency: currencyOf(world, customer.id),
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: customer.description,
    discount: customer.discount === null ? null : discountWire(customer.discount, { customer: customer.id }),
    email: customer.email,
    invoice_prefix: customer.id.slice(-8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: customer.defaultMethod,
      footer: null,
      rendering_options: null,
    },
    livemode: world.account.livemode,
    metadata: { ...customer.metadata },
    name: customer.name,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: customer.testClock,
  }) satisfies Wire<Stripe.Customer>

export const deletedCustomerWire = (customer: CustomerState) =>
  ({ id: customer.id, object: 'customer', deleted: true }) satisfies Wire<Stripe.DeletedCustomer>

export const clockWire = (world: World, clock: ClockState) =>
  ({
    id: clock.id,
    object: 'test_helpers.test_clock',
    created: clock.created,
    deletes_after: clock.created + 30 * 86_400,
    frozen_time: clock.frozenTime,
    livemode: world.account.livemode,
    name: clock.name,
    status: clock.advancing ? 'advancing' : 'ready',
    status_details: clock.advancing ? { advancing: { target_frozen_time: clock.frozenTime } } : {},
  }) satisfies Wire<Stripe.TestHelpers.TestClock>

export const productWire = (world: World, product: ProductState) =>
  ({
    id: product.id,
    object: 'product',
    active: product.active,
    created: product.created,
    default_price: null,
    description: product.description,
    images: [],
    livemode: world.account.livemode,
    marketing_features: [],
    metadata: { ...product.metadata },
    name: product.name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: product.updated,
    url: null,
  }) satisfies Wire<Stripe.Product>

export const priceWire = (world: World, price: PriceState) =>
  ({
    id: price.id,
    object: 'price',
    active: price.active,
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    custom_unit_amount: null,
    livemode: world.account.livemode,
    lookup_key: price.lookupKey,
    metadata: { ...price.metadata },
    nickname: price.nickname,
    product: price.product,
    recurring:
      price.interval === null
        ? null
        : {
            interval: price.interval,
            interval_count: price.intervalCount,
            meter: null,
            trial_period_days: null,
            usage_type: price.usageType,
          },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: price.interval === null ? 'one_time' : 'recurring',
    unit_amount: price.unitAmount,
    unit_amount_decimal: String(price.unitAmount),
  }) satisfies Wire<Stripe.Price>

export const planWire = (world: World, price: PriceState) =>
  ({
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unitAmount,
    amount_decimal: String(price.unitAmount),
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.interval ?? 'month',
    interval_count: price.intervalCount,
    livemode: world.account.livemode,
    metadata: { ...price.metadata },
    meter: null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: price.usageType,
  }) satisfies Wire<Stripe.Plan>

export const deletedProductWire = (id: string) =>
  ({ id, object: 'product', deleted: true }) satisfies Wire<Stripe.DeletedProduct>

export const deletedPlanWire = (id: string) =>
  ({ id, object: 'plan', deleted: true }) satisfies Wire<Stripe.DeletedPlan>

export const deletedClockWire = (id: string) =>
  ({
    id,
    object: 'test_helpers.test_clock',
    deleted: true,
  }) satisfies Wire<Stripe.TestHelpers.DeletedTestClock>
