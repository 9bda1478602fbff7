// Every job of the program: the name of its queue, what it carries, and how the queue keeps it. Job data holds ids
// only, because pg-boss shows data and output to whoever may look.
import { z } from 'zod'

/** Runs one stored event. One queue per account, so that a paused account never stalls another. */
export const eventQueue = (account: string) => `billing.event.${account}`
/** Reads one customer without an event: after a link, a stale read, a due recheck. */
export const reconcileQueue = (account: string) => `customer.reconcile.${account}`
/** Shows dead letters to pg-boss's tools. Nobody works it. */
export const DEAD_QUEUE = 'billing.dead'

export const eventJob = z.strictObject({ account: z.string(), eventId: z.string(), epoch: z.number().int() })
export type EventJob = z.infer<typeof eventJob>

export const reconcileJob = z.strictObject({ account: z.string(), customerId: z.string(), cause: z.string() })
export type ReconcileJob = z.infer<typeof reconcileJob>

// pg-boss deletes waiting jobs after 14 days by default, and with them the only wake-up of an event.
const KEEP_SECONDS = 10 * 365 * 86_400
// Done jobs say nothing that the ledger does not; two days help to look at a queue after a weekend.
const KEEP_DONE_SECONDS = 2 * 86_400
// The inbox row counts attempts; the queue must never give up by itself.
const NEVER = 1_000_000

export type QueueSettings = {
  notify: boolean
  retryLimit: number
  retryDelay?: number
  retryBackoff?: boolean
  retryDelayMax?: number
  retentionSeconds: number
  deleteAfterSeconds: number
}

export const EVENT_QUEUE_SETTINGS: QueueSettings = {
  notify: true,
  retryLimit: NEVER,
  retentionSeconds: KEEP_SECONDS,
  deleteAfterSeconds: KEEP_DONE_SECONDS,
}
/** A reconcile has no inbox row, so here the queue's own counter decides: 12 tries, then a finding. */
export const RECONCILE_QUEUE_SETTINGS: QueueSettings = {
  notify: true,
  retryLimit: 11,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 3_600,
  retentionSeconds: KEEP_SECONDS,
  deleteAfterSeconds: KEEP_DONE_SECONDS,
}
export const DEAD_QUEUE_SETTINGS: QueueSettings = {
  notify: false,
  retryLimit: 0,
  retentionSeconds: KEEP_SECONDS,
  deleteAfterSeconds: KEEP_DONE_SECONDS,
}

/** Jobs of one customer share this group and key; an event without a customer is a group of its own. */
export const groupOf = (account: string, customerId: string | null, eventId: string) =>
  `${account}:${customerId ?? eventId}`
