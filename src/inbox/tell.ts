// What the world outside hears of a settled attempt: metrics, and an alert for a dead letter, whoever settled it.
import type { WorkerContext } from '../context.ts'
import type { EventRow } from './attempt-queries.ts'
import type { Settled } from './settle.ts'

/** `latencyMs`: from receipt to effect, where there was one. */
export const tellSettled = (
  { log, metrics }: Pick<WorkerContext, 'log' | 'metrics'>,
  event: EventRow,
  { how, reason, latencyMs }: { how: Settled; reason: string | null; latencyMs: number | null },
): void => {
  const { account, event_id: eventId, type } = event
  metrics.settled({ account, how, reason, latencyMs })
  const facts = { account, event_id: eventId, type, attempts: event.attempts + 1, reason }
  if (how === 'dead') log.error({ ...facts, alert: 'dead_letter' }, 'inbox.dead_letter')
  else log.debug({ ...facts, how }, 'inbox.process')
}
