// What a worker process does beside its slots: know which accounts may be worked, probe paused ones, pin Stripe's
// account ids, send due rechecks. Each pass is safe to run in several processes at once.
import { forgetWorker, noteWorker } from '../audit/sweeps-queries.ts'
import type { WorkerContext } from '../context.ts'
import { sweepRechecks } from '../entitlements/sweep.ts'
import { anyDue, oldestPendingAge } from '../inbox/queries.ts'
import type { StripeAccount } from '../stripe/accounts.ts'
import { readStripeFailure } from '../stripe/failure.ts'
import {
  claimDueProbes,
  listAccounts,
  pauseAccount,
  pinStripeAccountId,
  resumeAccount,
} from '../stripe/queries.ts'
import { openReader } from '../stripe/read.ts'
import { SECOND_MS } from '../time.ts'

// All workers read the accounts' rows before they claim; a pause takes hold within this.
const ACCOUNTS_FRESH_MS = 500
const TICK_MS = SECOND_MS
const OLDEST_EACH_TICKS = 30
// `status` takes one that is silent for half a minute for gone.
const SEEN_EACH_TICKS = 10

const UNKNOWN = { hold: false, pause_cause: null, livemode: null, stripe_account_id: null }

const cache = new WeakMap<object, { at: number; accounts: Promise<string[]> }>()

/**
 * Names of the accounts whose jobs may be claimed now: not in hold, not paused. One without a key must have its mode
 * pinned, or real money could pass before its hold is seen here; and must never have had a key (its id at Stripe is
 * pinned): one process that was started without it must not decide from payloads what others read.
 */
export const workableAccounts = (ctx: WorkerContext): Promise<string[]> => {
  const known = cache.get(ctx)
  if (known !== undefined && performance.now() - known.at < ACCOUNTS_FRESH_MS) return known.accounts
  const accounts = ctx.work.run(listAccounts).then((rows) => {
    const row = new Map(rows.map((each) => [each.account, each]))
    return ctx.accounts.all
      .filter(({ name, client }) => {
        const { hold, pause_cause: paused, livemode, stripe_account_id: known } = row.get(name) ?? UNKNOWN
        return !hold && paused === null && (client !== null || (livemode !== null && known === null))
      })
      .map(({ name }) => name)
  })
  accounts.catch(() => cache.delete(ctx))
  cache.set(ctx, { at: performance.now(), accounts })
  return accounts
}

/** The accounts' states changed here: do not wait for the cache. */
const forget = (ctx: WorkerContext) => cache.delete(ctx)

export type Upkeep = { stop: () => Promise<void> }

/** Starts the passes; `wake` is called when there may be work again. */
export const startUpkeep = (ctx: WorkerContext, wake: () => void): Upkeep => {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const pins: Pins = new Map()
  const tick = async (count: number) => {
    try {
      if (count % SEEN_EACH_TICKS === 0) await ctx.work.run((db) => noteWorker(db, ctx))
      await ctx.refreshCatalog()
      await pinAccounts(ctx, pins)
      if (await probePaused(ctx)) {
        forget(ctx)
        wake()
      }
      const accounts = await workableAccounts(ctx)
      if ((await sweepRechecks(ctx, accounts)) > 0) wake()
      if (count % OLDEST_EACH_TICKS === OLDEST_EACH_TICKS - 1) await alertOldest(ctx, accounts)
    } catch (error) {
      ctx.log.warn({ err: error }, 'worker.upkeep_failed')
    }
    if (stopped) return
    timer = setTimeout(() => {
      running = tick(count + 1)
    }, TICK_MS)
  }
  running = tick(0)
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
      await ctx.work.run((db) => forgetWorker(db, ctx.worker)).catch(() => {})
    },
  }
}

const ask = (ctx: WorkerContext, account: StripeAccount) =>
  openReader(account, ctx.budget, { stop: ctx.stop, now: ctx.now }).accountId()

/** Lifts the pause of accounts whose Stripe answers again. True where one was lifted. */
const probePaused = async (ctx: WorkerContext): Promise<boolean> => {
  let lifted = false
  for (const name of await ctx.work.run(claimDueProbes)) {
    const account = ctx.accounts.named(name)
    if (account === null || account.client === null) continue
    let stripeAccountId: string
    try {
      stripeAccountId = await ask(ctx, account)
    } catch (error) {
      ctx.log.warn(
        { account: name, cause: readStripeFailure(error)?.kind ?? 'unknown' },
        'stripe.probe_failed',
      )
      continue
    }
    if (!(await isPinned(ctx, name, stripeAccountId))) continue
    lifted = (await ctx.work.run((db) => resumeAccount(db, name))) || lifted
    ctx.log.info({ account: name }, 'stripe.account_resumed')
  }
  return lifted
}

/** When an account's id is to be read (again); never, once it was. */
type Pins = Map<string, number>
const PIN_AGAIN_MS = 60 * SECOND_MS

// The key's account is pinned at first use; another one later means that somebody mixed up keys.
const pinAccounts = async (ctx: WorkerContext, pins: Pins) => {
  for (const account of ctx.accounts.all) {
    if (account.client === null || ctx.now() < (pins.get(account.name) ?? 0)) continue
    pins.set(account.name, ctx.now() + PIN_AGAIN_MS)
    let stripeAccountId: string
    try {
      stripeAccountId = await ask(ctx, account)
    } catch (error) {
      if (ctx.stop.aborted) return
      ctx.log.warn(
        { account: account.name, cause: readStripeFailure(error)?.kind ?? 'unknown' },
        'stripe.account_not_read',
      )
      continue
    }
    pins.set(account.name, Number.POSITIVE_INFINITY)
    await isPinned(ctx, account.name, stripeAccountId)
  }
}

// False, and the account pauses until a person acts, where the key is another account's than at first.
const isPinned = async (ctx: WorkerContext, account: string, stripeAccountId: string): Promise<boolean> => {
  const row = await ctx.work.run((db) => pinStripeAccountId(db, { account, stripeAccountId }))
  if (row.stripe_account_id === stripeAccountId) return true
  await ctx.work.run((db) => pauseAccount(db, { account, cause: 'stripe_account_changed', probeMs: null }))
  forget(ctx)
  ctx.log.error({ account, alert: 'stripe_account_changed' }, 'stripe.account_paused')
  return false
}

const alertOldest = async (ctx: WorkerContext, accounts: readonly string[]) => {
  const oldestMs = await ctx.work.run(oldestPendingAge)
  if (oldestMs === null || oldestMs <= ctx.config.recoveryObjectiveMs) return
  const due = await ctx.work.run((db) => anyDue(db, accounts))
  ctx.log.error(
    { alert: 'recovery_objective', oldest_pending_ms: Math.round(oldestMs), due },
    'worker.oldest_pending',
  )
}
