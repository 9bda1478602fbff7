// What doctor asks Stripe of an account: whose key it is, what it may read, and which endpoints Stripe delivers to. A few
// calls, outside of the shared budget; changes nothing.
import Stripe from 'stripe'
import { readStripeFailure, type StripeFailure } from './failure.ts'
import { underSignal, type StripeAccount } from './accounts.ts'

/** The version in which Stripe is read. */
export const SDK_API_VERSION: string = Stripe.API_VERSION

export type Resource =
  | 'customers'
  | 'subscriptions'
  | 'invoices'
  | 'charges'
  | 'invoice payments'
  | 'events'
  | 'test clocks'
  | 'webhook endpoints'

export type AccountAnswers = {
  /** Stripe's own id; null where it did not say. */
  id: string | null
  scopes: { resource: Resource; answer: 'ok' | StripeFailure['kind'] }[]
  /** Null where the key may not list them. */
  endpoints: { url: string; enabled: boolean; types: string[]; apiVersion: string | null }[] | null
}

const TIMEOUT_MS = 10_000

/** Asks once for each resource. Throws what is not Stripe's. */
export const askAccount = (account: StripeAccount): Promise<AccountAnswers> =>
  underSignal(AbortSignal.timeout(TIMEOUT_MS), () => ask(account))

const ask = async ({ client, name, livemode }: StripeAccount): Promise<AccountAnswers> => {
  if (client === null) throw new TypeError(`account ${name} has no API key`)
  const one = { limit: 1 }
  const listEndpoints = () => client.webhookEndpoints.list({ limit: 100 })
  const scopes: AccountAnswers['scopes'] = []
  const tried = async <T>(resource: Resource, call: () => Promise<T>): Promise<T | null> => {
    const { answer, value } = await answerOf(call)
    scopes.push({ resource, answer })
    return value
  }
  await tried('customers', () => client.customers.list(one))
  await tried('subscriptions', () => client.subscriptions.list(one))
  await tried('invoices', () => client.invoices.list(one))
  await tried('charges', () => client.charges.list(one))
  await tried('invoice payments', () => client.invoicePayments.list(one))
  await tried('events', () => client.events.list(one))
  if (livemode === false) await tried('test clocks', () => client.testHelpers.testClocks.list(one))
  const endpoints = await tried('webhook endpoints', listEndpoints)
  const { value: own } = await answerOf(() => client.accounts.retrieveCurrent())
  return {
    id: own?.id ?? null,
    scopes,
    endpoints:
      endpoints?.data.map(({ url, status, enabled_events: types, api_version: apiVersion }) => ({
        url,
        enabled: status === 'enabled',
        types,
        apiVersion,
      })) ?? null,
  }
}

const answerOf = async <T>(
  call: () => Promise<T>,
): Promise<{ answer: 'ok' | StripeFailure['kind']; value: T | null }> => {
  try {
    return { answer: 'ok', value: await call() }
  } catch (error) {
    const failure = readStripeFailure(error)
    if (failure === null) throw error
    return { answer: failure.kind, value: null }
  }
}
