// Webhook delivery: to registered endpoints, at once (`auto`) or when told (`manual`), in order or shuffled,
// twice or never. Anything but a 2xx within the time-out is a failure and stays pending with its count of
// tries.

import { seededRng, shuffled } from './ids.ts'
import type { Rng } from './ids.ts'
import { send, textOf } from './signing.ts'
import type { EndpointState } from './records-platform.ts'
import { put } from './state.ts'
import { render } from './wire/render.ts'
import type { SimAccount, StripeEvent, World } from './world.ts'

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
/** `apiVersion`: other than the account's; `connect`: gets the events of connected accounts. */
export type EndpointOptions = { secret?: string; types?: string[]; apiVersion?: string; connect?: boolean }
export type Delivery = {
  mode: 'auto' | 'manual'
  timeoutMs: number
  log: DeliveryTry[]
  /** Registers an endpoint; `types` limits what it gets. Events from before are not sent to it. */
  to(account: string, url: string, options?: EndpointOptions): void
  flush(options?: FlushOptions): Promise<FlushStats>
  redeliver(options?: FlushOptions & { failedOnly?: boolean; all?: boolean }): Promise<FlushStats>
  post(account: string, event: StripeEvent, options?: PostOptions): Promise<{ status: number; body: string }>
  /** Waits until what `auto` mode has begun is answered. */
  settled(): Promise<void>
  pending(): { eventId: string; account: string; tries: number; state: PendingState }[]
}
type PendingState = 'waiting' | 'failed' | 'lost' | 'delivered'
/** `event` counts its endpoints; `body` is what this endpoint gets: in its version, with `account` where it is Connect's. */
type Entry = {
  event: StripeEvent
  body: StripeEvent
  account: string
  endpoint: EndpointState
  tries: number
  state: PendingState
}
export type DeliveryEngine = Delivery & {
  announce(account: string, event: StripeEvent, raw: object): void
  /** One more try of one event at one endpoint, whatever was before. */
  resend(event: StripeEvent, endpoint: EndpointState): void
}

const TIMEOUT_MS = 10_000

export const createDelivery = (
  accounts: SimAccount[],
  worldOf: (account: string) => World,
): DeliveryEngine => {
  const entries: Entry[] = []
  const inFlight = new Set<Promise<unknown>>()
  const secretOf = (name: string) => accounts.find((account) => account.name === name)?.webhookSecret ?? ''

  const attempt = (entry: Entry) => tryOnce(entry, delivery)
  const inState = (states: readonly PendingState[]) => entries.filter(({ state }) => states.includes(state))
  const begin = (entry: Entry): void => {
    // After the verb has returned, as the network would.
    const sent = new Promise((resolve) => setImmediate(resolve)).then(() => attempt(entry))
    inFlight.add(sent)
    void sent.finally(() => inFlight.delete(sent))
  }
  const delivery: DeliveryEngine = {
    mode: 'manual',
    timeoutMs: TIMEOUT_MS,
    log: [],
    to: (account, url, options = {}) =>
      register(worldOf(account), url, { secret: secretOf(account), ...options }),
    announce: (account, event, raw) => {
      for (const { endpoint, connect } of audienceOf(accounts, worldOf, account)) {
        if (endpoint.disabled || !(endpoint.types.includes('*') || endpoint.types.includes(event.type)))
          continue
        const body = forEndpoint(event, raw, endpoint, connect ? worldOf(account).account.id : null)
        const entry: Entry = { event, body, account, endpoint, tries: 0, state: 'waiting' }
        event.pending_webhooks += 1
        entries.push(entry)
        if (delivery.mode === 'auto') begin(entry)
      }
    },
    resend: (event, endpoint) => {
      const known = entries.find((entry) => entry.event === event && entry.endpoint === endpoint)
      begin(known ?? { event, body: event, account: '', endpoint, tries: 0, state: 'waiting' })
    },
    flush: (options = {}) => runEntries(inState(['failed', 'waiting']), options, attempt),
    redeliver: (options = {}) => {
      const lost = options.failedOnly === true ? [] : (['lost'] as const)
      const done = options.all === true ? (['delivered'] as const) : []
      return runEntries(inState(['failed', ...lost, ...done]), options, attempt)
    },
    post: async (account, event, options = {}) => {
      const url = options.url ?? endpointsOf(worldOf(account))[0]?.url
      if (url === undefined) throw new Error(`No endpoint registered for account ${account}`)
      const body = options.body ?? textOf(event)
      return send(url, body, options.signWith ?? secretOf(account), delivery.timeoutMs, options.timestamp)
    },
    settled: async () => {
      while (inFlight.size > 0) await Promise.all(inFlight)
    },
    pending: () => entries.filter((entry) => entry.state !== 'delivered').map(summaryOf),
  }
  return delivery
}

const endpointsOf = (world: World): EndpointState[] => [...world.store.endpoint.values()]

const register = (world: World, url: string, options: EndpointOptions & { secret: string }): void =>
  void put(world.store, 'endpoint', {
    id: world.requestId('we'),
    created: world.now(),
    url,
    secret: options.secret,
    types: options.types ?? ['*'],
    apiVersion: options.apiVersion ?? null,
    connect: options.connect ?? false,
    disabled: false,
    description: null,
    metadata: {},
  })

// The account's own endpoints, and the Connect endpoints of the platform that it belongs to.
const audienceOf = (
  accounts: SimAccount[],
  worldOf: (account: string) => World,
  account: string,
): { endpoint: EndpointState; connect: boolean }[] => {
  const platform = accounts.find(({ name }) => name === account)?.connectedTo
  const own = endpointsOf(worldOf(account)).filter(({ connect }) => !connect)
  const theirs = platform === undefined ? [] : endpointsOf(worldOf(platform)).filter(({ connect }) => connect)
  return [
    ...own.map((endpoint) => ({ endpoint, connect: false })),
    ...theirs.map((endpoint) => ({ endpoint, connect: true })),
  ]
}

const forEndpoint = (
  event: StripeEvent,
  raw: object,
  { apiVersion }: EndpointState,
  connectedId: string | null,
): StripeEvent => {
  if (apiVersion === null && connectedId === null) return event
  const object =
    apiVersion === null ? event.data.object : (render(raw, apiVersion) as Record<string, unknown>)
  return {
    ...event,
    ...(apiVersion === null ? {} : { api_version: apiVersion }),
    ...(connectedId === null ? {} : { account: connectedId }),
    data: { ...event.data, object },
  }
}

const summaryOf = ({ event, account, tries, state }: Entry) => ({
  eventId: event.id,
  account,
  tries,
  state,
})

const tryOnce = async (entry: Entry, { timeoutMs, log }: Delivery): Promise<boolean> => {
  const { event, endpoint, account } = entry
  const body = textOf({ ...entry.body, pending_webhooks: event.pending_webhooks })
  const { status } = await send(endpoint.url, body, endpoint.secret, timeoutMs)
  entry.tries += 1
  const row = { eventId: event.id, type: event.type, account, url: endpoint.url }
  log.push({ ...row, at: Date.now(), status })
  const delivered = status >= 200 && status < 300
  // Once delivered, a failed duplicate changes nothing.
  if (entry.state !== 'delivered') {
    entry.state = delivered ? 'delivered' : 'failed'
    if (delivered) event.pending_webhooks -= 1
  }
  return delivered
}

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
