// The second opinion: what a recorded subscription or invoice says, read as plainly as can be and without a line of
// `src/`. It knows where the API versions keep things, checks nothing and forgives nothing.
import { fieldsIn, isFields, textIn, type Fields } from './read.ts'

export type PlainSubscription = {
  id: string
  customerId: string | null
  status: string
  trialEnd: number | null
  endedAt: number | null
  /** Its `behavior`, where collection is paused. */
  paused: string | null
  cancelAt: number | null
  cancelAtPeriodEnd: boolean
  items: { priceId: string; quantity: number | null; periodEnd: number | null }[]
  /** A time at which the subscription surely was as recorded: the start of its current period. */
  moment: number
}

export type PlainInvoice = {
  customerId: string | null
  subscriptionId: string | null
  /** The invoice itself names no subscription, one of its lines does (until 2014). */
  onlyALineNames: string | null
  /** Null where neither `status` nor `paid` tells. */
  status: string | null
  amountDue: number | null
  createdAt: number | null
}

export const plainSubscription = (raw: unknown): PlainSubscription => {
  const sub = fieldsIn(raw)
  const listed = fieldsIn(sub['items'])['data']
  // Until 2015 a subscription was its own only item.
  const lines = Array.isArray(listed) ? listed.map(fieldsIn) : [sub]
  const status = textIn(sub['status']) ?? ''
  const started = lines[0]?.['current_period_start'] ?? sub['current_period_start'] ?? sub['created']
  return {
    id: textIn(sub['id']) ?? '',
    customerId: named(sub['customer']),
    status,
    trialEnd: timeOf(sub['trial_end']),
    endedAt: timeOf(sub['ended_at'] ?? (status === 'canceled' ? sub['canceled_at'] : null)),
    paused: textIn(fieldsIn(sub['pause_collection'])['behavior']),
    cancelAt: timeOf(sub['cancel_at']),
    cancelAtPeriodEnd: sub['cancel_at_period_end'] === true,
    items: lines.map((line) => ({
      priceId: named(line['price'] ?? line['plan']) ?? '',
      quantity: isMetered(line) ? null : numberOf(line['quantity']),
      periodEnd: timeOf(line['current_period_end'] ?? sub['current_period_end']),
    })),
    moment: timeOf(started) ?? 0,
  }
}

export const plainInvoice = (raw: unknown): PlainInvoice => {
  const invoice = fieldsIn(raw)
  const parent = fieldsIn(fieldsIn(invoice['parent'])['subscription_details'])
  const subscriptionId = named(parent['subscription'] ?? invoice['subscription'])
  return {
    customerId: named(invoice['customer']),
    subscriptionId,
    onlyALineNames: subscriptionId === null ? lineOf(invoice) : null,
    status: textIn(invoice['status']) ?? (invoice['paid'] === true ? 'paid' : null),
    amountDue: numberOf(invoice['amount_due']),
    createdAt: timeOf(invoice['created'] ?? invoice['date']),
  }
}

const lineOf = (invoice: Fields): string | null => {
  const lines = fieldsIn(invoice['lines'])['data']
  const line = (Array.isArray(lines) ? lines : []).map(fieldsIn).find(({ type }) => type === 'subscription')
  return line === undefined ? null : named(line['subscription'] ?? line['id'])
}

const isMetered = (line: Fields): boolean =>
  fieldsIn(fieldsIn(line['price'])['recurring'])['usage_type'] === 'metered' ||
  fieldsIn(line['plan'])['usage_type'] === 'metered'

const named = (ref: unknown): string | null => textIn(isFields(ref) ? ref['id'] : ref)

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)

const timeOf = (value: unknown): number | null => (typeof value === 'number' ? value * 1_000 : null)
