// What Stripe sends although neither its specification nor the SDK's types know it, each with its evidence. Nothing else
// may be sent that the types do not know. Counts are of recordings with API versions from basil on, if not said otherwise.
import type { Schema } from './types-to-schema.ts'

export type Undocumented = { definition: RegExp; field: string; schema: Schema; evidence: string }

const nullable = (...schemas: Schema[]): Schema => ({ anyOf: [{ type: 'null' }, ...schemas] })

export const UNDOCUMENTED: readonly Undocumented[] = [
  {
    definition: /^Subscriptions\.Subscription$/,
    field: 'plan',
    schema: nullable({ $ref: '#/definitions/Plans.Plan' }),
    evidence: '461 of 461 recorded subscriptions, up to 2026-03-25.dahlia; null with several items',
  },
  {
    definition: /^Subscriptions\.Subscription$/,
    field: 'quantity',
    schema: nullable({ type: 'integer' }),
    evidence: '461 of 461 recorded subscriptions, up to 2026-03-25.dahlia; null with several items',
  },
  {
    definition: /^lib\.ApiList/,
    field: 'total_count',
    schema: { type: 'integer' },
    evidence: 'lists inside recorded objects: subscription.items, invoice.lines',
  },
  {
    definition: /^Prices\.Price\.Recurring$/,
    field: 'trial_period_days',
    schema: nullable({ type: 'integer' }),
    evidence: 'recorded prices, inside subscriptions and alone',
  },
  ...['destination', 'dispute', 'order'].map((field) => ({
    definition: /^Charges\.Charge$/,
    field,
    schema: { type: 'null' },
    evidence: '32 of 32 recorded charges, 2025-06-30.basil to 2026-03-25.dahlia',
  })),
]
