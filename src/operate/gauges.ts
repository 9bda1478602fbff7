// The state of everything as numbers, read when somebody scrapes: the same queries as `status`, so that both say the same.
import type { Reading } from '../metrics.ts'
import type { Database } from '../postgres/pool.ts'
import { SECOND_MS } from '../time.ts'
import { listHolds } from './grants-queries.ts'
import {
  accountStates,
  countDrift,
  countFindings,
  lastSweeps,
  listWorkers,
  readWallClock,
} from './status-queries.ts'

// Several scrapers, or an eager one, must not cost the database more than this.
const KEEP_MS = 5 * SECOND_MS

/** Reads all gauges; an answer is kept for five seconds. */
export const openGauges = (database: Database, now: () => number): (() => Promise<readonly Reading[]>) => {
  let kept: { at: number; readings: Promise<readonly Reading[]> } | null = null
  return () => {
    if (kept !== null && performance.now() - kept.at < KEEP_MS) return kept.readings
    const readings = readAll(database, now)
    readings.catch(() => {
      kept = null
    })
    kept = { at: performance.now(), readings }
    return readings
  }
}

const readAll = (database: Database, now: () => number): Promise<readonly Reading[]> =>
  database.run(async (db) => {
    const asked = now()
    const wall = await readWallClock(db)
    const sweeps = await lastSweeps(db)
    const readings: Reading[] = [
      { gauge: 'clock_skew_seconds', value: ((asked + now()) / 2 - wall) / SECOND_MS, labels: {} },
      {
        gauge: 'workers_alive',
        value: (await listWorkers(db)).filter(({ alive }) => alive).length,
        labels: {},
      },
      { gauge: 'revocation_holds', value: (await listHolds(db)).length, labels: {} },
    ]
    for (const each of await accountStates(db)) readings.push(...ofAccount(each))
    for (const { account, code, open } of await countFindings(db))
      readings.push({ gauge: 'findings_open', value: open, labels: { account, code } })
    for (const { account, name: sweep, failures, ended_at: endedAt } of sweeps) {
      const labels = { account, sweep }
      readings.push({ gauge: 'sweep_failures', value: failures, labels })
      if (endedAt !== null)
        readings.push({ gauge: 'sweep_age_seconds', value: (wall - endedAt) / SECOND_MS, labels })
    }
    for (const { account, differences } of await countDrift(db))
      readings.push({ gauge: 'drift_customers', value: differences, labels: { account } })
    return readings
  })

const ofAccount = (each: Awaited<ReturnType<typeof accountStates>>[number]): Reading[] => {
  const { account } = each
  const cause = each.hold ? 'hold' : (each.pause_cause ?? 'none')
  const count = (state: 'ready' | 'deferred' | 'pending' | 'dead'): Reading => ({
    gauge: 'events',
    value: each[state],
    labels: { account, state },
  })
  return [
    count('ready'),
    count('deferred'),
    count('pending'),
    count('dead'),
    {
      gauge: 'oldest_ready_seconds',
      value: each.oldest_ready_at === null ? 0 : (each.now - each.oldest_ready_at) / SECOND_MS,
      labels: { account },
    },
    { gauge: 'account_stopped', value: cause === 'none' ? 0 : 1, labels: { account, cause } },
  ]
}
