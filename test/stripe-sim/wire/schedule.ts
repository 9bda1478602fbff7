// Wire objects of subscription schedules. See catalog.ts for the conventions.

import type Stripe from 'stripe'
import type { PhaseState, ScheduleState } from '../records.ts'
import type { World } from '../world.ts'
import type { Wire } from './catalog.ts'

const NO_INVOICE_SETTINGS = {
  account_tax_ids: null,
  custom_fields: null,
  days_until_due: null,
  description: null,
  footer: null,
  issuer: { type: 'self' as const },
}

const phaseWire = (phase: PhaseState) =>
  ({
    add_invoice_items: [],
    application_fee_percent: null,
    billing_cycle_anchor: null,
    billing_thresholds: null,
    collection_method: null,
    currency: 'usd',
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    end_date: phase.end,
    invoice_settings: null,
    items: phase.items.map((item) => ({
      billing_thresholds: null,
      discounts: [],
      metadata: {},
      plan: item.price,
      price: item.price,
      quantity: item.quantity,
      tax_rates: [],
    })),
    metadata: {},
    on_behalf_of: null,
    proration_behavior: 'create_prorations',
    start_date: phase.start,
    transfer_data: null,
    trial_end: null,
  }) satisfies Wire<Stripe.SubscriptionSchedule.Phase>

export const scheduleWire = (world: World, schedule: ScheduleState) => {
  const now = world.now(schedule.customer)
  const current =
    schedule.status === 'active'
      ? schedule.phases.find(({ start, end }) => start <= now && now < end)
      : undefined
  return {
    id: schedule.id,
    object: 'subscription_schedule',
    application: null,
    billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
    canceled_at: schedule.canceledAt,
    completed_at: schedule.completedAt,
    created: schedule.created,
    current_phase: current === undefined ? null : { end_date: current.end, start_date: current.start },
    customer: schedule.customer,
    customer_account: null,
    default_settings: {
      application_fee_percent: null,
      automatic_tax: { disabled_reason: null, enabled: false, liability: null },
      billing_cycle_anchor: 'automatic',
      billing_thresholds: null,
      collection_method: 'charge_automatically',
      default_payment_method: null,
      description: null,
      invoice_settings: NO_INVOICE_SETTINGS,
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: schedule.endBehavior,
    livemode: world.account.livemode,
    metadata: { ...schedule.metadata },
    pause_schedules: [],
    phases: schedule.phases.map(phaseWire),
    released_at: schedule.releasedAt,
    released_subscription: schedule.releasedSubscription,
    status: schedule.status,
    subscription: schedule.subscription,
    test_clock: world.store.customer.get(schedule.customer)?.testClock ?? null,
  } satisfies Wire<Stripe.SubscriptionSchedule>
}
