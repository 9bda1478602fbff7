// The Stripe accounts we serve, by name, each with its client. The SDK neither retries nor reports: the queue does
// the first, nobody wants the second.
import { AsyncLocalStorage } from 'node:async_hooks'
import Stripe from 'stripe'
import type { AccountConfig, Config } from '../config.ts'

/** One read of a customer, all pages: longer would hold the worker's transaction (and its xid) too long. */
export const READ_DEADLINE_MS = 8_000

export type StripeAccount = {
  name: string
  /** Real money? Null where neither a key nor STRIPE_MODE says; then the first verified event pins it. */
  livemode: boolean | null
  /** The connected account whose events these are (`event.account`), or null for the account's own. */
  connectId: string | null
  secrets: readonly string[]
  /** Null without an API key. */
  client: Stripe | null
}

export type StripeAccounts = {
  all: readonly StripeAccount[]
  /** Null for an unknown name. */
  named: (name: string) => StripeAccount | null
}

const deadline = new AsyncLocalStorage<AbortSignal>()

/** Runs Stripe calls that are cut, bodies and all, when the signal fires. The SDK's time-out counts silence only. */
export const underSignal = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  deadline.run(signal, work)

/** Builds the clients. Makes no call. */
export const openAccounts = (config: Config): StripeAccounts => {
  const all = config.accounts.map((account) => openAccount(account, config))
  const byName = new Map(all.map((account) => [account.name, account]))
  return { all, named: (name) => byName.get(name) ?? null }
}

const openAccount = (account: AccountConfig, config: Config): StripeAccount => ({
  name: account.name,
  livemode: account.livemode,
  connectId: account.stripeAccount,
  secrets: account.webhookSecrets.map((secret) => secret.reveal()),
  client: account.apiKey === null ? null : openClient(account.apiKey.reveal(), account, config),
})

const openClient = (key: string, account: AccountConfig, config: Config): Stripe => {
  const base = new URL(config.stripe.apiBase)
  const https = base.protocol === 'https:'
  return new Stripe(key, {
    protocol: https ? 'https' : 'http',
    host: base.hostname,
    port: base.port === '' ? (https ? 443 : 80) : Number(base.port),
    timeout: READ_DEADLINE_MS,
    maxNetworkRetries: 0,
    telemetry: false,
    ...(account.stripeAccount !== null && { stripeAccount: account.stripeAccount }),
    httpClient: Stripe.createFetchHttpClient((url, init) => {
      const signal = deadline.getStore()
      const signals = [init?.signal, signal].filter((one) => one !== null && one !== undefined)
      // Stripe's API never redirects; following one would carry the key elsewhere.
      return fetch(url, {
        ...init,
        redirect: 'error',
        ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      })
    }),
  })
}
