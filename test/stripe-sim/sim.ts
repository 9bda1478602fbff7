// The stateful Stripe double: real HTTP for the real SDK, signed webhooks, seeded faults, a simulated clock.
// For tests and the demo only; `src/` never imports it. README.md tells what it covers and how it grows.

import type { AddressInfo } from 'node:net'
import { createDelivery } from './delivery.ts'
import type { Delivery } from './delivery.ts'
import { createFaults } from './faults.ts'
import type { FaultScript } from './faults.ts'
import { createListeners } from './http/listeners.ts'
import type { Listeners } from './http/listeners.ts'
import { createApiServer } from './http/server.ts'
import type { ApiCall, Tenancy } from './http/server.ts'
import type { Honesty } from './honesty/check.ts'
import { openShop } from './shop.ts'
import type { Shop } from './shop.ts'
import { createWorld } from './world.ts'
import type { SimAccount } from './world.ts'

export type { ApiCall } from './http/server.ts'
export type { Delivery } from './delivery.ts'
export type { Fault, FaultScript } from './faults.ts'
export type { Shop } from './shop.ts'
export type { SimAccount, StripeEvent } from './world.ts'
export { signedHeaders } from './signing.ts'
export { seededRng } from './ids.ts'

export type SimClock = { now(): number; set(ms: number): void; advance(ms: number): void }
export type CallFilter = { account?: string; method?: string; path?: RegExp }
export type StripeSim = {
  url: string
  port: number
  close(): Promise<void>
  account(name: string): Shop
  clock: SimClock
  faults: FaultScript
  calls(filter?: CallFilter): ApiCall[]
  delivery: Delivery
  /** Those who listen by the official CLI, and what they were answered where they forwarded to. */
  listeners: Pick<Listeners, 'answers' | 'connected'>
}
export type SimOptions = {
  accounts: SimAccount[]
  seed?: number
  now?: number
  port?: number
  /** Checks requests against the SDK's types; reading those takes some seconds once. */
  honesty?: Honesty
}

// A fixed beginning keeps ids, times and events the same in every run.
const DEFAULT_NOW = Date.UTC(2026, 10, 2, 9)

export const startStripeSim = async (options: SimOptions): Promise<StripeSim> => {
  let nowMs = options.now ?? DEFAULT_NOW
  const clock: SimClock = {
    now: () => nowMs,
    set: (ms) => void (nowMs = ms),
    advance: (ms) => void (nowMs += ms),
  }
  const faults = createFaults()
  const calls: ApiCall[] = []
  const tenancyOf = (name: string): Tenancy => {
    const found = accounts.find(({ world }) => world.account.name === name)
    if (found === undefined) throw new Error(`The simulator has no account named ${name}`)
    return found
  }
  const delivery = createDelivery(options.accounts, (name) => tenancyOf(name).world)
  const accounts = options.accounts.map((account): Tenancy => {
    const world = createWorld(account, options.seed ?? 1, () => nowMs)
    world.onEvent = (event, raw) => {
      delivery.announce(account.name, event, raw)
      listeners.tell(world, event)
    }
    return { world, shop: openShop(world), replies: new Map() }
  })
  const server = createApiServer({
    accounts,
    faults,
    calls,
    honesty: options.honesty ?? null,
    platform: {
      resend: (event, endpoint) => delivery.resend(event, endpoint),
      tellListeners: (world, event) => listeners.tell(world, event),
      openListener: (world) => listeners.open(world, port()),
    },
  })
  const port = () => (server.address() as AddressInfo).port
  const listeners = createListeners(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })

  return {
    url: `http://127.0.0.1:${port()}`,
    port: port(),
    clock,
    faults,
    delivery,
    listeners: { connected: listeners.connected, answers: listeners.answers },
    account: (name) => tenancyOf(name).shop,
    calls: (filter = {}) => calls.filter((call) => selected(call, filter)),
    close: async () => {
      await delivery.settled()
      listeners.close()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        // Also those that a `hang` keeps open.
        server.closeAllConnections()
      })
    },
  }
}

const selected = (call: ApiCall, filter: CallFilter): boolean =>
  (filter.account === undefined || call.account === filter.account) &&
  (filter.method === undefined || call.method === filter.method) &&
  (filter.path === undefined || filter.path.test(call.path))
