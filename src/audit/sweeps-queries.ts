// SQL of the sweeps and of the processes that run them: who runs which, how far it came, what it found. Times are the
// database's own, not the rules' clock: a sweep is due by real time.
import { sql } from 'slonik'
import { z } from 'zod'
import type { Queries } from '../postgres/pool.ts'
import { toIso, type Instant } from '../time.ts'

export type SweepKey = { account: string; name: 'catchup' | 'retention' | 'drift' | 'ends' | 'lost_jobs' }

const claimed = sql.type(
  z.strictObject({
    account: z.string(),
    through_at: z.number().nullable(),
    cursor: z.unknown(),
    since: z.number(),
    now: z.number(),
  }),
)

/** Makes sure that the accounts have this sweep; the first run comes after `everyMs`. */
export const ensureSweeps = (
  db: Queries,
  input: { accounts: readonly string[]; name: SweepKey['name']; everyMs: number },
) =>
  db.query(sql.unsafe`
    insert into goodstanding.sweeps (account, name, due_at)
    select account, ${input.name}, clock_timestamp() + ${input.everyMs}::float8 * interval '1 millisecond'
    from unnest(${sql.array([...input.accounts], 'text')}) as known (account)
    on conflict do nothing
  `)

/**
 * Takes the runs that are due, and nobody else does until the lease is over. `since`: when the account came to us;
 * `now`: by the rules' clock.
 */
export const claimSweeps = (
  db: Queries,
  input: { accounts: readonly string[]; name: SweepKey['name']; leaseMs: number },
) =>
  db.any(claimed`
    update goodstanding.sweeps sweep
    set due_at = clock_timestamp() + ${input.leaseMs}::float8 * interval '1 millisecond',
        started_at = clock_timestamp()
    from goodstanding.accounts account
    where account.account = sweep.account
      and sweep.name = ${input.name}
      and sweep.due_at <= clock_timestamp()
      and sweep.account = any(${sql.array([...input.accounts], 'text')})
    returning sweep.account, sweep.through_at, sweep.cursor, account.created_at as since, goodstanding.clock() as now
  `)

/** Still at it: nobody else takes the run before the lease is over. */
export const extendSweep = (db: Queries, input: SweepKey & { leaseMs: number }) =>
  db.query(sql.unsafe`
    update goodstanding.sweeps
    set due_at = clock_timestamp() + ${input.leaseMs}::float8 * interval '1 millisecond'
    where account = ${input.account}
      and name = ${input.name}
  `)

/** Records a run that came to its end, or to the end of its share (`cursor`: where to go on). */
export const endSweep = (
  db: Queries,
  input: SweepKey & { throughAt: Instant | null; cursor: object | null; result: object; nextMs: number },
) =>
  db.query(sql.unsafe`
    update goodstanding.sweeps
    set ended_at = clock_timestamp(),
        due_at = clock_timestamp() + ${input.nextMs}::float8 * interval '1 millisecond',
        through_at = coalesce(${toIso(input.throughAt)}::timestamptz, through_at),
        cursor = ${input.cursor === null ? null : JSON.stringify(input.cursor)}::jsonb,
        result = ${JSON.stringify(input.result)}::jsonb,
        failures = 0,
        last_error = null
    where account = ${input.account}
      and name = ${input.name}
  `)

/** Records a run that failed; what it had reached before stays. */
export const failSweep = (db: Queries, input: SweepKey & { error: string; nextMs: number }) =>
  db.query(sql.unsafe`
    update goodstanding.sweeps
    set ended_at = clock_timestamp(),
        due_at = clock_timestamp() + ${input.nextMs}::float8 * interval '1 millisecond',
        failures = failures + 1,
        last_error = left(${input.error}, 500)
    where account = ${input.account}
      and name = ${input.name}
  `)

/** This worker process is alive; those that were silent for a day are forgotten. */
export const noteWorker = async (db: Queries, input: { worker: string; version: string }) => {
  await db.query(sql.unsafe`
    insert into goodstanding.workers (worker, version)
    values (${input.worker}, ${input.version})
    on conflict (worker) do update
      set seen_at = clock_timestamp()
  `)
  await db.query(sql.unsafe`
    delete from goodstanding.workers
    where seen_at < clock_timestamp() - interval '1 day'
  `)
}

/** This worker process ends on purpose. */
export const forgetWorker = (db: Queries, worker: string) =>
  db.query(sql.unsafe`
    delete from goodstanding.workers
    where worker = ${worker}
  `)
