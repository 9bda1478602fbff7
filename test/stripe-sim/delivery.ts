// Webhook delivery: to registered endpoints, at once (`auto`) or when told (`manual`), in order or shuffled,
// twice or never. Anything but a 2xx within the time-out is a failure and stays pending with its count of
// tries.

import { seededRng, shuffled } from './ids.ts'
import type { Rng } from './ids.ts'
import { signedHeaders } from './signing.ts'
import type { SimAccount, StripeEvent } from './world.ts'

export type DeliveryTry = {
  eventId: string
  type: string
  account: string
  url: string
  /** Real time, ms. */
  at: number
  /** 0: time-out or no connection. */
  status: number
}
export type FlushOptions = {
  shuffle?: Rng | number
  /** Seed of the dice for `duplicates` and `lose`; default: that of `shuffle`, or 1. */
  seed?: number
  duplicates?: number
  lose?: number
  concurrency?: number
}
export type FlushStats = {
  tries: number
  delivered: number
  failed: number
  lost: number
  duplicated: number
}
export type PostOptions = { signWith?: string; timestamp?: number; url?: string; body?: string }
export type Delivery = {
  mode: 'auto' | 'manual'
  timeoutMs: number
  log: DeliveryTry[]
  /** Registers an endpoint; `types` limits what it gets. Events from before are not sent to it. */
  to(account: string, url: string, options?: { secret?: string; types?: string[] }): void
  flush(options?: FlushOptions): Promise<FlushStats>
  redeliver(options?: FlushOptions & { failedOnly?: boolean; all?: boolean }): Promise<FlushStats>
  post(account: string, event: StripeEvent, options?: PostOptions): Promise<{ status: number; body: string }>
  /** Waits until what `auto` mode has begun is answered. */
  settled(): Promise<void>
  pending(): { eventId: string; account: string; tries: number; state: PendingState }[]
}
type PendingState = 'waiting' | 'failed' | 'lost' | 'delivered'
type Endpoint = { account: string; url: string; secret: string; types: string[] | null }
type Entry = { event: StripeEvent; endpoint: Endpoint; tries: number; state: PendingState }
export type DeliveryEngine = Delivery & { announce(account: string, event: StripeEvent): void }

const TIMEOUT_MS = 10_000

export const createDelivery = (accounts: SimAccount[]): DeliveryEngine => {
  const endpoints: Endpoint[] = []
  const entries: Entry[] = []
  const inFlight = new Set<Promise<unknown>>()
  const secretOf = (name: string) => accounts.find((account) => account.name === name)?.webhookSecret ?? ''

  const attempt = (entry: Entry) => tryOnce(entry, delivery)
  const run = (chosen: Entry[], options: FlushOptions) => runEntries(chosen, options, attempt)

  const delivery: DeliveryEngine = {
    mode: 'manual',
    timeoutMs: TIMEOUT_MS,
    log: [],
    to: (account, url, options = {}) => {
      const secret = options.secret ?? secretOf(account)
      endpoints.push({ account, url, secret, types: options.types ?? null })
    },
    announce: (account, event) => {
      for (const endpoint of endpoints) {
        if (endpoint.account !== account || endpoint.types?.includes(event.type) === false) continue
        const entry: Entry = { event, endpoint, tries: 0, state: 'waiting' }
        event.pending_webhooks += 1
        entries.push(entry)
        if (delivery.mode === 'manual') continue
        // After the verb has returned, as the network would.
        const sent = new Promise((resolve) => setImmediate(resolve)).then(() => attempt(entry))
        inFlight.add(sent)
        void sent.finally(() => inFlight.delete(sent))
      }
    },
    flush: (options = {}) =>
      run(
        entries.filter((entry) => entry.state === 'waiting' || entry.state === 'failed'),
        options,
      ),
    redeliver: (options = {}) =>
      run(
        entries.filter(
          (entry) =>
            entry.state === 'failed' ||
            (entry.state === 'lost' && options.failedOnly !== true) ||
            (options.all === true && entry.state === 'delivered'),
        ),
        options,
      ),
    post: async (account, event, options = {}) => {
      const url = options.url ?? endpoints.find((endpoint) => endpoint.account === account)?.url
      if (url === undefined) throw new Error(`No endpoint registered for account ${account}`)
      const body = options.body ?? bodyOf(event)
      return send(url, body, options.signWith ?? secretOf(account), delivery.timeoutMs, options.timestamp)
    },
    settled: async () => {
      while (inFlight.size > 0) await Promise.all(inFlight)
    },
    pending: () => entries.filter((entry) => entry.state !== 'delivered').map(summaryOf),
  }
  return delivery
}

const summaryOf = ({ event, endpoint, tries, state }: Entry) => ({
  eventId: event.id,
  account: endpoint.account,
  tries,
  state,
})

const tryOnce = async (entry: Entry, { timeoutMs, log }: Delivery): Promise<boolean> => {
  const { event, endpoint } = entry
  const { status } = await send(endpoint.url, bodyOf(event), endpoint.secret, timeoutMs)
  entry.tries += 1
  const row = { eventId: event.id, type: event.type, account: endpoint.account, url: endpoint.url }
  log.push({ ...row, at: Date.now(), status })
  const delivered = status >= 200 && status < 300
  // Once delivered, a failed duplicate changes nothing.
  if (entry.state !== 'delivered') {
    entry.state = delivered ? 'delivered' : 'failed'
    if (delivered) event.pending_webhooks -= 1
  }
  return delivered
}

// Stripe sends indented JSON; the signature covers these very bytes.
const bodyOf = (event: StripeEvent): string => JSON.stringify(event, null, 2)

const runEntries = async (
  chosen: Entry[],
  options: FlushOptions,
  attempt: (entry: Entry) => Promise<boolean>,
): Promise<FlushStats> => {
  const { shuffle, duplicates = 0, lose = 0, concurrency = 1 } = options
  const rng = typeof shuffle === 'function' ? shuffle : seededRng(options.seed ?? shuffle ?? 1)
  const stats: FlushStats = { tries: 0, delivered: 0, failed: 0, lost: 0, duplicated: 0 }
  let queue: Entry[] = []
  for (const entry of chosen) {
    if (rng() < lose) {
      entry.state = 'lost'
      stats.lost += 1
      continue
    }
    queue.push(entry)
    if (rng() >= duplicates) continue
    queue.push(entry)
    stats.duplicated += 1
  }
  if (shuffle !== undefined) queue = shuffled(queue, rng)
  const worker = async () => {
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
      const delivered = await attempt(entry)
      stats.tries += 1
      stats[delivered ? 'delivered' : 'failed'] += 1
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, worker))
  return stats
}

const send = async (url: string, body: string, secret: string, timeoutMs: number, timestamp?: number) => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: signedHeaders(body, secret, timestamp),
      // To Stripe a redirect is a failure.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: response.status, body: await response.text() }
  } catch (error) {
    return { status: 0, body: error instanceof Error ? error.message : String(error) }
  }
}
