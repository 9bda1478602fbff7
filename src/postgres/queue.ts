// pg-boss on our own transactions; the only file that imports it. Everything here takes the caller's transaction:
// a send outside of it would acknowledge an event whose job may be lost.
import { randomUUID } from 'node:crypto'
import type { MeterProvider } from '@opentelemetry/api'
import { PgBoss, type Db, type JobInsert } from 'pg-boss'
import { sql } from 'slonik'
import { AppError } from '../errors.ts'
import {
  DEAD_QUEUE,
  DEAD_QUEUE_SETTINGS,
  EVENT_QUEUE_SETTINGS,
  eventQueue,
  RECONCILE_QUEUE_SETTINGS,
  reconcileQueue,
} from '../jobs.ts'
import { sqlState } from './failure.ts'
import type { Transaction } from './pool.ts'

export type NewJob = { id?: string; data: object; group: string; startAfterMs?: number }
/** A job taken inside a transaction: rolled back, it was never taken. */
export type Claim = {
  queue: string
  id: string
  retryCount: number
  retryLimit: number
  group: string
  data: unknown
}

export type Queue = {
  /** Enqueues all or throws. Returns the ids in the order of the jobs. */
  enqueue: (tx: Transaction, queue: string, jobs: readonly NewJob[]) => Promise<string[]>
  /** Takes the oldest due job whose group is not among `busyGroups`, or null. */
  claim: (tx: Transaction, queue: string, busyGroups: readonly string[]) => Promise<Claim | null>
  complete: (tx: Transaction, claim: Claim, output?: object) => Promise<void>
  /** Completes a job that was not claimed in this transaction. True where it was there. */
  completeQueued: (tx: Transaction, queue: string, id: string, output?: object) => Promise<boolean>
  /** Gives the claim back for a later try, and says when. */
  retry: (tx: Transaction, claim: Claim, code: string, delayMs: number | null) => Promise<void>
  /** Moves the start of a waiting job. True where it was waiting. */
  reschedule: (tx: Transaction, queue: string, id: string, delayMs: number) => Promise<boolean>
  remove: (tx: Transaction, queue: string, id: string) => Promise<void>
  /** Is the job waiting or running? */
  isLive: (tx: Transaction, queue: string, id: string) => Promise<boolean>
  /** Creates or updates the queues of these accounts. */
  prepare: (accounts: readonly string[]) => Promise<void>
  schemaVersion: () => Promise<number | null>
  stop: () => Promise<void>
}

export type QueueOptions = {
  url: string
  supervise: boolean
  migrate?: boolean
  /** pg-boss measures itself into it. */
  meterProvider?: MeterProvider
  onError: (error: Error) => void
}

/** Starts pg-boss beside our pools (two connections of its own for housekeeping). */
export const startQueue = async (options: QueueOptions): Promise<Queue> => {
  const boss = new PgBoss({
    connectionString: options.url,
    schema: 'pgboss',
    max: 2,
    migrate: options.migrate ?? false,
    createSchema: options.migrate ?? false,
    supervise: options.supervise,
    schedule: false,
    connectionTimeoutMillis: 5_000,
    superviseIntervalSeconds: 30,
    registerInstance: true,
    openTelemetry: {
      enabled: options.meterProvider !== undefined,
      ...(options.meterProvider !== undefined && { meterProvider: options.meterProvider }),
    },
  })
  boss.on('error', options.onError)
  await boss.start()
  return {
    ...claims(boss),
    ...waiting(boss),
    prepare: async (accounts) => {
      await prepareQueue(boss, DEAD_QUEUE, DEAD_QUEUE_SETTINGS)
      for (const account of accounts) {
        await prepareQueue(boss, eventQueue(account), EVENT_QUEUE_SETTINGS)
        await prepareQueue(boss, reconcileQueue(account), RECONCILE_QUEUE_SETTINGS)
      }
    },
    schemaVersion: () => boss.schemaVersion(),
    stop: () => boss.stop({ graceful: true, timeout: 5_000 }),
  }
}

const prepareQueue = async (boss: PgBoss, name: string, settings: object) => {
  await boss.createQueue(name, settings)
  await boss.updateQueue(name, settings)
}

const claims = (boss: PgBoss): Pick<Queue, 'enqueue' | 'claim' | 'complete' | 'retry'> => ({
  enqueue: async (tx, queue, jobs) => {
    const rows = jobs.map(({ id = randomUUID(), data, group, startAfterMs = 0 }) => {
      const job: JobInsert & { id: string } = { id, data, singletonKey: group, group: { id: group } }
      if (startAfterMs > 0) job.startAfter = interval(startAfterMs)
      return job
    })
    const ids = (await boss.insert(queue, rows, { db: onTransaction(tx), returnId: true })) ?? []
    // pg-boss answers an id conflict or an unknown queue with fewer ids, not with an error.
    if (ids.length !== rows.length)
      throw new AppError('queue/not_enqueued', { queue, asked: rows.length, made: ids.length })
    return rows.map((row) => row.id)
  },
  claim: async (tx, queue, busyGroups) => {
    const [job] = await boss.fetch<unknown>(queue, {
      db: onTransaction(tx),
      batchSize: 1,
      includeMetadata: true,
      ...(busyGroups.length > 0 && { ignoreGroups: [...busyGroups] }),
    })
    if (job === undefined) return null
    return {
      queue,
      id: job.id,
      retryCount: job.retryCount,
      retryLimit: job.retryLimit,
      group: job.groupId ?? job.id,
      data: job.data,
    }
  },
  complete: async (tx, claim, output) => {
    const done = await boss.complete(claim.queue, claim, output ?? null, { db: onTransaction(tx) })
    if (affected(done) !== 1) throw new AppError('queue/claim_lost', { queue: claim.queue })
  },
  retry: async (tx, claim, code, delayMs) => {
    const db = onTransaction(tx)
    const failed = await boss.fail(claim.queue, claim, { code }, { db })
    if (affected(failed) !== 1) throw new AppError('queue/claim_lost', { queue: claim.queue })
    if (delayMs !== null)
      await boss.update(claim.queue, undefined, { id: claim.id, startAfter: interval(delayMs), db })
  },
})

const waiting = (boss: PgBoss): Pick<Queue, 'completeQueued' | 'reschedule' | 'remove' | 'isLive'> => ({
  completeQueued: async (tx, queue, id, output) => {
    const done = await boss.complete(queue, id, output ?? null, {
      db: onTransaction(tx),
      includeQueued: true,
    })
    return affected(done) === 1
  },
  reschedule: async (tx, queue, id, delayMs) => {
    const { updated } = await boss.update(queue, undefined, {
      id,
      startAfter: interval(delayMs),
      db: onTransaction(tx),
    })
    return updated === 1
  },
  remove: async (tx, queue, id) => {
    await boss.deleteJob(queue, id, { db: onTransaction(tx) })
  },
  isLive: async (tx, queue, id) => {
    const [job] = await boss.findJobs(queue, { id, limit: 1, db: onTransaction(tx) })
    return job !== undefined && (job.state === 'created' || job.state === 'retry' || job.state === 'active')
  },
})

// Declared without fields in 12.38, but this is what it returns.
const affected = (response: object): number => ('affected' in response ? Number(response.affected) : 0)

const interval = (ms: number) => `${Math.max(0, Math.round(ms))} milliseconds`

// The one place where SQL text that we did not write runs on our transaction.
const BASE = sql.unsafe``
const onTransaction = (tx: Transaction): Db => ({
  executeSql: async (text, values = []) => {
    try {
      const result = await tx.query({ ...BASE, sql: text, values: values as never })
      return { rows: [...result.rows] }
    } catch (error) {
      // pg-boss decides by err.code; slonik keeps it on the cause.
      const code = sqlState(error)
      if (error instanceof Error && code !== null && !('code' in error && error.code))
        Object.assign(error, { code })
      throw error
    }
  },
})

/** Channel on which pg-boss announces runnable jobs (payload = queue name). Internal to pg-boss: a hint only. */
export const NOTIFY_CHANNEL_SQL = "'pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24)"
