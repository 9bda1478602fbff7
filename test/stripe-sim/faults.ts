// Faults of the Stripe API, scripted (`next`) or random but seeded (`chaos`). Every fault that really fired
// is recorded, so that a test can assert it was not a no-op.

import { seededRng } from './ids.ts'

export type Fault =
  | { status: 429; retryAfter?: number; shouldRetry?: boolean }
  | { status: 500 | 503; shouldRetry?: boolean }
  | { status: 401 | 403 | 404 }
  | { reset: true; afterEffect?: boolean }
  | { hang: true }
  | { delayMs: number }
  | { truncate: true }
  | { html: true }
  | { notFoundWithoutError: true }
  | { failPage: number }
  | { stale: true }

export type FaultRule = { account?: string; path?: RegExp; method?: string; times?: number; fault: Fault }
export type ChaosOptions = { seed: number; rate: number; kinds: Fault[]; account?: string; path?: RegExp }
export type FaultTarget = { account: string; method: string; path: string; startingAfter: string | null }
export type FiredFault = { kind: string; account: string; path: string }

export type FaultScript = {
  next(rule: FaultRule): void
  chaos(options: ChaosOptions): void
  clear(): void
  fired(): FiredFault[]
}
export type FaultEngine = FaultScript & {
  draw(target: FaultTarget): Fault | null
  /** Records that the fault took effect; the server calls it at that moment. */
  took(fault: Fault, target: FaultTarget): void
}

type Armed = { rule: FaultRule; left: number; pages: Map<string, { page: number; cursor: string | null }> }

export const createFaults = (): FaultEngine => {
  let armed: Armed[] = []
  let chaos: { options: ChaosOptions; rng: () => number } | null = null
  let fired: FiredFault[] = []

  return {
    next: (rule) => void armed.push({ rule, left: rule.times ?? 1, pages: new Map() }),
    chaos: (options) => void (chaos = { options, rng: seededRng(options.seed) }),
    clear: () => {
      armed = []
      chaos = null
      fired = []
    },
    fired: () => [...fired],
    took: (fault, target) =>
      void fired.push({ kind: faultKind(fault), account: target.account, path: target.path }),
    draw: (target) => {
      for (const entry of armed) {
        if (entry.left > 0 && matches(entry.rule, target) && reachesPage(entry, target)) {
          entry.left -= 1
          return entry.rule.fault
        }
      }
      if (chaos === null || !matches(chaos.options, target)) return null
      // Two draws per request, whatever happens: the sequence depends on the requests only.
      const hit = chaos.rng() < chaos.options.rate
      const index = Math.floor(chaos.rng() * chaos.options.kinds.length)
      return hit ? (chaos.options.kinds[index] ?? null) : null
    },
  }
}

const faultKind = (fault: Fault): string => {
  if ('status' in fault) return String(fault.status)
  return Object.keys(fault).find((key) => key !== 'afterEffect') ?? 'unknown'
}

const matches = (rule: Omit<FaultRule, 'fault'>, target: FaultTarget): boolean =>
  (rule.account === undefined || rule.account === target.account) &&
  (rule.method === undefined || rule.method === target.method) &&
  (rule.path === undefined || rule.path.test(target.path))

// `failPage: 2` fires on the second page of a list; asking again for the same page does not count as
// progress.
const reachesPage = (entry: Armed, target: FaultTarget): boolean => {
  if (!('failPage' in entry.rule.fault)) return true
  const before = entry.pages.get(target.path)
  const again = before !== undefined && before.cursor === target.startingAfter
  const page = target.startingAfter === null ? 1 : again ? before.page : (before?.page ?? 1) + 1
  entry.pages.set(target.path, { page, cursor: target.startingAfter })
  return page === entry.rule.fault.failPage
}
