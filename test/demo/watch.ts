// Looks into the service's own tables and tells what came of the deliveries: how each event was settled, and what
// changed for whom. Reads only.
import type { Query } from '../harness/service.ts'
import type { Access, Changed, Settled, Tell } from './moments.ts'

export type Watch = {
  /** From now on the fate of this event is told. */
  expect: (event: { eventId: string; type: string; tenant: string }) => void
  look: () => Promise<void>
  /** Events that are not settled yet. */
  open: () => number
}

type Known = { eventId: string; type: string; tenant: string }
type EventRow = { event_id: string; outcome: string | null; reason: string | null; dead: boolean }
type PlanRow = Access & { tenant: string; history_id: number; cause: string | null }

export const openWatch = (query: Query, tell: Tell): Watch => {
  const known = new Map<string, Known>()
  const open = new Map<string, string>()
  const shown = new Map<string, Access>()
  const historySeen = new Map<string, number>()

  const lookAtEvents = async () => {
    if (open.size === 0) return
    for (const row of await query<EventRow>(EVENTS, [[...open.keys()]])) {
      const event = known.get(row.event_id)
      const settled = event === undefined ? null : settledOf(event, row)
      if (settled === null || open.get(row.event_id) === settled.outcome) continue
      tell({ kind: 'settled', settled })
      if (settled.outcome === 'waiting') open.set(row.event_id, 'waiting')
      else open.delete(row.event_id)
    }
  }
  const lookAtTenants = async () => {
    for (const { tenant, history_id, cause, ...after } of await query<PlanRow>(PLANS)) {
      const fresh = history_id > (historySeen.get(tenant) ?? 0) ? cause : null
      historySeen.set(tenant, history_id)
      const before = shown.get(tenant) ?? null
      if (before !== null && sameAccess(before, after)) continue
      shown.set(tenant, after)
      tell({ kind: 'changed', changed: { tenant, before, after, cause: causeOf(known, fresh, before) } })
    }
  }
  return {
    expect: (event) => {
      if (known.has(event.eventId)) return
      known.set(event.eventId, event)
      open.set(event.eventId, '')
    },
    look: async () => {
      await lookAtTenants()
      await lookAtEvents()
    },
    open: () => open.size,
  }
}

const settledOf = (event: Known, { outcome, reason, dead }: EventRow): Settled | null => {
  if (outcome === null && reason === null) return null
  return { ...event, outcome: dead ? 'dead' : (outcome ?? 'waiting'), reason }
}

const causeOf = (
  known: Map<string, Known>,
  cause: string | null,
  before: Access | null,
): Changed['cause'] => {
  if (cause === null) return before === null ? 'link' : 'time'
  const event = known.get(cause)
  return event === undefined ? 'recheck' : { eventId: event.eventId, type: event.type }
}

const sameAccess = (one: Access, other: Access): boolean =>
  one.plan === other.plan && one.state === other.state && one.seats === other.seats

const EVENTS = `
  select event_id, outcome, reason, dead_letter_at is not null as dead
  from goodstanding.billing_events
  where event_id = any($1)
  order by processed_at, received_seq`

// One statement, so that a change and its cause are seen together.
const PLANS = `
  select plan.tenant_id as tenant, plan.plan, plan.state, (seats.value #>> '{}')::float8 as seats,
    coalesce(history.history_id, 0)::float8 as history_id, history.cause
  from goodstanding.effective_plans plan
  left join goodstanding.effective_entitlements seats
    on seats.tenant_id = plan.tenant_id and seats.feature = 'seats'
  left join lateral (
    select history_id, cause
    from goodstanding.entitlement_history
    where tenant_id = plan.tenant_id
    order by history_id desc
    limit 1
  ) history on true
  order by plan.tenant_id`
