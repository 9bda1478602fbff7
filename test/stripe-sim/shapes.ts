// Wire objects of customers, catalogue and subscriptions, in the newest API version, from the state records.
// `satisfies Wire<...>` holds them to the SDK's types; fields that Stripe sends though its types lack them
// (subscription.plan, items.total_count, ...) are added beside. `_legacy` is what older versions say (render.ts).

import type Stripe from 'stripe'
import { need } from './world.ts'
import type { World } from './world.ts'
import type { ClockState, CustomerState, ItemState, PriceState, ProductState, SubState } from './state.ts'

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

export const customerWire = (world: World, customer: CustomerState) =>
  ({
    id: customer.id,
    object: 'customer',
    address: null,
    balance: 0,
    created: customer.created,
    currency: world.store.owned.has(customer.id) ? 'usd' : null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: customer.email,
    invoice_prefix: customer.id.slice(-8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: world.account.livemode,
    metadata: { ...customer.metadata },
    name: null,
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
    status: 'ready',
    status_details: {},
  }) satisfies Wire<Stripe.TestHelpers.TestClock>

export const productWire = (world: World, product: ProductState) =>
  ({
    id: product.id,
    object: 'product',
    active: product.active,
    created: product.created,
    default_price: null,
    description: null,
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
    currency: 'usd',
    custom_unit_amount: null,
    livemode: world.account.livemode,
    lookup_key: price.lookupKey,
    metadata: { ...price.metadata },
    nickname: null,
    product: price.product,
    recurring:
      price.interval === null
        ? null
        : {
            interval: price.interval,
            interval_count: 1,
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
    currency: 'usd',
    interval: price.interval ?? 'month',
    interval_count: 1,
    livemode: world.account.livemode,
    metadata: { ...price.metadata },
    meter: null,
    nickname: null,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: price.usageType,
  }) satisfies Wire<Stripe.Plan>

export const itemWire = (world: World, sub: SubState, item: ItemState) => {
  const price = need(world, 'price', item.price)
  return {
    id: item.id,
    object: 'subscription_item',
    billing_thresholds: null,
    created: item.created,
    current_period_end: item.periodEnd,
    current_period_start: item.periodStart,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planWire(world, price),
    price: priceWire(world, price),
    // Metered items have no quantity at all.
    ...(item.quantity === null ? {} : { quantity: item.quantity }),
    subscription: sub.id,
    tax_rates: [],
  } satisfies Wire<Stripe.SubscriptionItem>
}

export const subscriptionWire = (world: World, sub: SubState) => {
  const items = sub.items.map((item) => itemWire(world, sub, item))
  const only = items.length === 1 ? items[0] : undefined
  const base = {
    id: sub.id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: sub.anchor,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible', updated_at: sub.created },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: sub.cancelAt,
    cancel_at_period_end: sub.cancelAtPeriodEnd,
    canceled_at: sub.canceledAt,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: sub.cancelReason },
    collection_method: sub.collection,
    created: sub.created,
    currency: 'usd',
    customer: sub.customer,
    customer_account: null,
    days_until_due: sub.collection === 'send_invoice' ? 30 : null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: sub.endedAt,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: embeddedList(items, `/v1/subscription_items?subscription=${sub.id}`),
    latest_invoice: sub.latestInvoice,
    livemode: world.account.livemode,
    managed_payments: { enabled: false },
    metadata: { ...sub.metadata },
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection:
      sub.pause === null ? null : { behavior: sub.pause.behavior, resumes_at: sub.pause.resumesAt },
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: sub.startDate,
    status: sub.status,
    test_clock: world.store.customer.get(sub.customer)?.testClock ?? null,
    transfer_data: null,
    trial_end: sub.trialEnd,
    trial_settings: {
      end_behavior: { billing_cycle_anchor: 'unchanged', missing_payment_method: sub.trialEndBehavior },
    },
    trial_start: sub.trialStart,
  } satisfies Wire<Stripe.Subscription>
  return {
    ...base,
    plan: only?.plan ?? null,
    quantity: only?.quantity ?? null,
    _legacy: {
      current_period_start: Math.min(...sub.items.map((item) => item.periodStart)),
      current_period_end: Math.min(...sub.items.map((item) => item.periodEnd)),
      discount: null,
    },
  }
}
