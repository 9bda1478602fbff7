// Reads Stripe's live state: a customer whole (all subscriptions, items, pages), or who an object belongs to. Every
// answer's kind and id are checked, because the SDK takes a stranger's 404 for a success. Writes nothing.
import type Stripe from 'stripe'
import { idOf } from '../ids.ts'
import { SECOND_MS, type Instant } from '../time.ts'
import { READ_DEADLINE_MS, underSignal, type StripeAccount } from './accounts.ts'
import type { Budget, Endpoint } from './budget.ts'
import { readStripeFailure, UnexpectedAnswer } from './failure.ts'

// 100 an answer is Stripe's most; a customer with more than 2,000 subscriptions needs a person, not a page more.
const PAGE = 100
const MAX_PAGES = 20

/** One bounded read: all its calls share a deadline, and end when `stop` fires. */
export type StripeReader = {
  /** Null where Stripe says `resource_missing`; a deleted customer reads as `{ deleted: true }`. */
  customer: (id: string) => Promise<Stripe.Customer | Stripe.DeletedCustomer | null>
  /** All subscriptions of a customer in any status, with all their items. */
  subscriptionsOf: (customerId: string) => Promise<Stripe.Subscription[]>
  subscription: (id: string) => Promise<Stripe.Subscription | null>
  openInvoicesOf: (customerId: string) => Promise<Stripe.Invoice[]>
  invoice: (id: string) => Promise<Stripe.Invoice | null>
  /** Which invoice a payment intent paid; null where none. */
  invoiceOfPayment: (paymentIntentId: string) => Promise<string | null>
  charge: (id: string) => Promise<Stripe.Charge | null>
  /** Frozen time of a test clock, in seconds. */
  testClock: (id: string) => Promise<number | null>
  /** One page of all subscriptions that are not canceled; `after`: the last one of the page before. */
  liveSubscriptions: (
    after: string | null,
  ) => Promise<{ subscriptions: Stripe.Subscription[]; more: boolean }>
  /** One page, newest first, of the events made since; `after`: the last one of the page before. */
  eventsSince: (from: Instant, after: string | null) => Promise<{ events: Stripe.Event[]; more: boolean }>
  /** Stripe's own id of the account that the key belongs to. */
  accountId: () => Promise<string>
}

/** Starts a read: its 8 s run from now. `now` is the process's clock in milliseconds. */
export const openReader = (
  { client, name }: StripeAccount,
  budget: Budget,
  options: { stop: AbortSignal; now: () => number },
): StripeReader => {
  if (client === null) throw new TypeError(`account ${name} has no API key`)
  const signal = AbortSignal.any([options.stop, AbortSignal.timeout(READ_DEADLINE_MS)])
  const deadlineAt = options.now() + READ_DEADLINE_MS
  const { one, all, call } = calls((endpoint, ask) =>
    budget.call(name, endpoint, deadlineAt, () => underSignal(signal, ask)),
  )
  // Embedded lists carry the first page only.
  const withItems = async (subscription: Stripe.Subscription): Promise<Stripe.Subscription> => {
    if (!subscription.items.has_more) return subscription
    const data = await all('subscription_items', 'subscription_item', (after) =>
      client.subscriptionItems.list({ subscription: subscription.id, limit: PAGE, ...after }),
    )
    return { ...subscription, items: { ...subscription.items, data, has_more: false } }
  }
  return {
    customer: (id) => one('customers', 'customer', () => client.customers.retrieve(id)),
    subscriptionsOf: async (customer) => {
      const ask = { customer, status: 'all', limit: PAGE, expand: ['data.customer'] } as const
      const found = await all('subscriptions', 'subscription', (after) =>
        client.subscriptions.list({ ...ask, expand: [...ask.expand], ...after }),
      )
      const whole: Stripe.Subscription[] = []
      for (const subscription of found) whole.push(await withItems(subscription))
      return whole
    },
    subscription: async (id) => {
      const ask = () => client.subscriptions.retrieve(id, { expand: ['customer'] })
      const found = await one('subscriptions', 'subscription', ask)
      return found === null ? null : withItems(found)
    },
    openInvoicesOf: (customer) =>
      all('invoices', 'invoice', (after) =>
        client.invoices.list({ customer, status: 'open', limit: PAGE, ...after }),
      ),
    invoice: (id) => one('invoices', 'invoice', () => client.invoices.retrieve(id)),
    invoiceOfPayment: async (id) => {
      const payment = { type: 'payment_intent', payment_intent: id } as const
      const answer = await call('invoice_payments', () => client.invoicePayments.list({ payment, limit: 1 }))
      return idOf(elementsOf('invoice_payment', answer)[0]?.invoice)
    },
    charge: (id) => one('charges', 'charge', () => client.charges.retrieve(id)),
    testClock: async (id) => {
      const ask = () => client.testHelpers.testClocks.retrieve(id)
      return (await one('test_clocks', 'test_helpers.test_clock', ask))?.frozen_time ?? null
    },
    ...wholeLists(client, call),
    accountId: async () =>
      checked('account', await call('account', () => client.accounts.retrieveCurrent())).id,
  }
}

/** Page by page, for those who look at a whole account. */
const wholeLists = (client: Stripe, call: Call): Pick<StripeReader, 'liveSubscriptions' | 'eventsSince'> => ({
  liveSubscriptions: async (after) => {
    const answer = await call('subscriptions', () =>
      client.subscriptions.list({ limit: PAGE, ...from(after) }),
    )
    return { subscriptions: elementsOf('subscription', answer), more: answer.has_more }
  },
  eventsSince: async (since, after) => {
    const created = { gte: Math.floor(since / SECOND_MS) }
    const answer = await call('events', () => client.events.list({ created, limit: PAGE, ...from(after) }))
    return { events: elementsOf('event', answer), more: answer.has_more }
  },
})

type Call = <T>(endpoint: Endpoint, ask: () => Promise<T>) => Promise<T>
type After = { starting_after?: string }

const calls = (call: Call) => ({
  call,
  /** Null where Stripe says that it is missing. */
  one: async <T>(endpoint: Endpoint, kind: string, ask: () => Promise<T>): Promise<T | null> => {
    try {
      return checked(kind, await call(endpoint, ask))
    } catch (error) {
      if (readStripeFailure(error)?.kind === 'missing') return null
      throw error
    }
  },
  all: <T extends { id?: string }>(
    endpoint: Endpoint,
    kind: string,
    ask: (after: After) => Promise<Stripe.ApiList<T>>,
  ) => allPages(kind, (after) => call(endpoint, () => ask(after))),
})

const allPages = async <T extends { id?: string }>(
  kind: string,
  ask: (after: After) => Promise<Stripe.ApiList<T>>,
): Promise<T[]> => {
  const found: T[] = []
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const last = found.at(-1)?.id
    const answer = await ask(last === undefined ? {} : { starting_after: last })
    found.push(...elementsOf(kind, answer))
    if (!answer.has_more) return found
  }
  throw new UnexpectedAnswer(`a list of at most ${MAX_PAGES * PAGE} ${kind} objects`)
}

const from = (after: string | null): After => (after === null ? {} : { starting_after: after })

const elementsOf = <T>(kind: string, answer: Stripe.ApiList<T>): T[] => {
  if (answer.object !== 'list' || !Array.isArray(answer.data)) throw new UnexpectedAnswer(`a list of ${kind}`)
  return answer.data.map((element) => checked(kind, element))
}

const checked = <T>(kind: string, value: T): T => {
  const object = typeof value === 'object' && value !== null && 'object' in value ? value.object : null
  if (object !== kind || idOf(value) === null) throw new UnexpectedAnswer(`an object of kind ${kind}`)
  return value
}
