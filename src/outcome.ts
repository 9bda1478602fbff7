// What became of one attempt at an event: the only thing that settling looks at. Expected answers are values here,
// not exceptions.
import type { Reason } from './reasons.ts'

/** How a processed event counts (billing_events.outcome). */
export type Processed = 'applied' | 'no_change' | 'ignored' | 'discarded' | 'superseded'

export type Outcome =
  | { kind: 'done'; processed: Processed; reason: Reason | null }
  /** The event's own fault, or ours: counts, doubling from 5 s. */
  | { kind: 'retry'; reason: Reason; error: string }
  /** Waits for something that we know by name: counts, doubling from 60 s. */
  | { kind: 'deferred'; reason: Reason; error: string | null }
  /** Somebody else is down: counts nothing. */
  | { kind: 'postponed'; reason: Reason; error: string; delayMs: number }
  /** Repeating would change nothing: dead letter at once. */
  | { kind: 'permanent'; reason: Reason; error: string | null }
  /** The customer became known: the event goes on in its group, same epoch, no attempt spent. */
  | { kind: 'rerouted'; customerId: string }
