// Wire objects of subscriptions and their items, in the newest API version. See shapes.ts for the
// conventions.

import type Stripe from 'stripe'
import { embeddedList, planWire, priceWire } from './catalog.ts'
import type { Wire } from './catalog.ts'
import type { ItemState, SubState } from '../records.ts'
import { need } from '../world.ts'
import type { World } from '../world.ts'

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

export const deletedItemWire = (id: string) =>
  ({ id, object: 'subscription_item', deleted: true }) satisfies Wire<Stripe.DeletedSubscriptionItem>

// What the double does not simulate, as Stripe shows it unused.
const UNUSED_BY_SUBSCRIPTIONS = {
  application: null,
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor_config: null,
  billing_schedules: [],
  billing_thresholds: null,
  currency: 'usd',
  customer_account: null,
  default_source: null,
  default_tax_rates: [],
  invoice_settings: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: { type: 'self' },
  },
  description: null,
  managed_payments: { enabled: false },
  next_pending_invoice_item_invoice: null,
  on_behalf_of: null,
  payment_settings: {
    payment_method_options: null,
    payment_method_types: null,
    save_default_payment_method: 'off',
  },
  pending_invoice_item_interval: null,
  pending_setup_intent: null,
  pending_update: null,
  transfer_data: null,
} satisfies Partial<Wire<Stripe.Subscription>>

export const subscriptionWire = (world: World, sub: SubState) => {
  const items = sub.items.map((item) => itemWire(world, sub, item))
  const only = items.length === 1 ? items[0] : undefined
  const base = {
    id: sub.id,
    object: 'subscription',
    ...UNUSED_BY_SUBSCRIPTIONS,
    billing_cycle_anchor: sub.anchor,
    billing_mode: {
      flexible: { proration_discounts: 'included' },
      type: 'flexible',
      updated_at: sub.created,
    },
    cancel_at: sub.cancelAt,
    cancel_at_period_end: sub.cancelAtPeriodEnd,
    canceled_at: sub.canceledAt,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: sub.cancelReason },
    collection_method: sub.collection,
    created: sub.created,
    customer: sub.customer,
    default_payment_method: sub.defaultMethod,
    discounts: sub.discount === null ? [] : [sub.discount.id],
    days_until_due: sub.collection === 'send_invoice' ? sub.daysUntilDue : null,
    ended_at: sub.endedAt,
    items: embeddedList(items, `/v1/subscription_items?subscription=${sub.id}`),
    latest_invoice: sub.latestInvoice,
    livemode: world.account.livemode,
    metadata: { ...sub.metadata },
    pause_collection:
      sub.pause === null ? null : { behavior: sub.pause.behavior, resumes_at: sub.pause.resumesAt },
    schedule: sub.schedule,
    start_date: sub.startDate,
    status: sub.status,
    test_clock: world.store.customer.get(sub.customer)?.testClock ?? null,
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
