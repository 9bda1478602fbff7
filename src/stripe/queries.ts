// SQL of the accounts' state and of the shared budget of Stripe calls.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries, Transaction } from '../postgres/pool.ts'

const accountRow = sql.type(
  z.strictObject({
    account: z.string(),
    livemode: z.boolean().nullable(),
    stripe_account_id: z.string().nullable(),
    hold: z.boolean(),
    pause_cause: z.string().nullable(),
  }),
)
export type AccountRow = {
  account: string
  livemode: boolean | null
  stripe_account_id: string | null
  hold: boolean
  pause_cause: string | null
}

/** The state of all accounts. */
export const listAccounts = (db: Queries) =>
  db.any(accountRow`
    select account, livemode, stripe_account_id, hold, pause_cause
    from goodstanding.accounts
  `)

/** Creates the account's row, or pins its mode if none was pinned. Real money starts in hold. Returns the row. */
export const pinAccount = (db: Queries, input: { account: string; livemode: boolean | null }) =>
  db.one(accountRow`
    insert into goodstanding.accounts as mine (account, livemode, hold)
    values (${input.account}, ${input.livemode}, coalesce(${input.livemode}, false))
    on conflict (account) do update
      set hold = mine.hold or (mine.livemode is null and coalesce(excluded.livemode, false)),
          livemode = coalesce(mine.livemode, excluded.livemode)
    returning account, livemode, stripe_account_id, hold, pause_cause
  `)

/** Pins Stripe's own id of the account at first use; returns the pinned one. */
export const pinStripeAccountId = (db: Queries, input: { account: string; stripeAccountId: string }) =>
  db.one(sql.type(z.strictObject({ stripe_account_id: z.string() }))`
    update goodstanding.accounts
    set stripe_account_id = coalesce(stripe_account_id, ${input.stripeAccountId})
    where account = ${input.account}
    returning stripe_account_id
  `)

/** Ends the hold of an account. False where it was not in hold. */
export const endHold = async (tx: Transaction, account: string): Promise<boolean> =>
  (
    await tx.query(sql.unsafe`
    update goodstanding.accounts
    set hold = false
    where account = ${account}
      and hold
  `)
  ).rowCount === 1

/**
 * Stops all reads of an account. False where it was paused already: then the older cause stays, but for another
 * account's key, which no probe may lift.
 */
export const pauseAccount = async (
  db: Queries,
  input: { account: string; cause: string; probeMs: number | null },
) =>
  (
    await db.query(sql.unsafe`
    update goodstanding.accounts
    set paused_since = coalesce(paused_since, clock_timestamp()),
        pause_cause = ${input.cause},
        probe_failures = 0,
        probe_at = clock_timestamp() + ${input.probeMs}::float8 * interval '1 millisecond'
    where account = ${input.account}
      and (
        paused_since is null
        or (${input.cause} = 'stripe_account_changed' and pause_cause <> 'stripe_account_changed')
      )
  `)
  ).rowCount === 1

/** Lifts a pause; a trigger adds its length to the total, by which staleness stands still. */
export const resumeAccount = async (db: Queries, account: string) =>
  (
    await db.query(sql.unsafe`
    update goodstanding.accounts
    set paused_since = null,
        pause_cause = null,
        probe_at = null,
        probe_failures = 0
    where account = ${account}
      and paused_since is not null
  `)
  ).rowCount === 1

/** Takes the probes that are due: one worker each; the next is due after 10 s, doubling to 60 s. */
export const claimDueProbes = (db: Queries) =>
  db.anyFirst(sql.type(z.strictObject({ account: z.string() }))`
    update goodstanding.accounts
    set probe_at = clock_timestamp() + least(60, 10 * power(2, least(probe_failures, 8))) * interval '1 second',
        probe_failures = probe_failures + 1
    where paused_since is not null
      and probe_at <= clock_timestamp()
    returning account
  `)

/** Makes sure that the budget row is there. */
export const ensureBudget = (db: Queries, input: { account: string; endpoint: string }) =>
  db.query(sql.unsafe`
    insert into goodstanding.stripe_budget (account, endpoint)
    values (${input.account}, ${input.endpoint})
    on conflict do nothing
  `)

/**
 * Reserves the next slot of an endpoint (GCRA; a second's worth may be spent at once). Returns the wait in
 * milliseconds, or null where it would exceed `maxWaitMs` or the endpoint is blocked: then nothing is reserved.
 */
export const reserveCall = (
  db: Queries,
  input: { account: string; endpoint: string; stepMs: number; burstMs: number; maxWaitMs: number },
) =>
  db.maybeOneFirst(sql.type(z.strictObject({ wait_ms: z.number() }))`
    update goodstanding.stripe_budget
    set next_free_at =
          greatest(next_free_at, clock_timestamp() - ${input.burstMs}::float8 * interval '1 millisecond')
            + ${input.stepMs}::float8 * slowdown * interval '1 millisecond',
        slowdown = case when slowed_at < clock_timestamp() - interval '30 seconds' then 1 else slowdown end
    where account = ${input.account}
      and endpoint = ${input.endpoint}
      and (blocked_until is null or blocked_until <= clock_timestamp())
      and next_free_at <= clock_timestamp() + ${input.maxWaitMs}::float8 * interval '1 millisecond'
    returning greatest(
      0,
      extract(epoch from next_free_at - clock_timestamp()) * 1000 - ${input.stepMs}::float8 * slowdown
    )::float8 as wait_ms
  `)

/** After 429: half the rate (at least a 64th is kept), and nothing at all until the header's time. */
export const slowEndpoint = (
  db: Queries,
  input: { account: string; endpoint: string; blockMs: number; cause: string },
) =>
  db.query(sql.unsafe`
    update goodstanding.stripe_budget
    set slowdown = case when ${input.cause} = 'rate_limited' then least(64, slowdown * 2) else slowdown end,
        slowed_at = clock_timestamp(),
        block_cause = ${input.cause},
        blocked_until = greatest(
          blocked_until,
          clock_timestamp() + ${input.blockMs}::float8 * interval '1 millisecond'
        )
    where account = ${input.account}
      and endpoint = ${input.endpoint}
  `)
