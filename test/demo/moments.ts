// What happens in the demo, as data: the course of events emits moments, the views draw them. A moment never knows how
// it is shown.
import type { Tenant } from './stories.ts'

/** What a tenant may use; null: we do not know the tenant yet. */
export type Access = { plan: string; state: string; seats: number | null }

/** One try to deliver an event. */
export type Tried = {
  eventId: string
  type: string
  tenant: string
  day: number
  /** HTTP status of our answer; null: lost on the way. */
  status: number | null
  redelivered: boolean
  doubled: boolean
  overtaken: boolean
  daysLate: number
}

/** What an event led to. Outcome `waiting`: it is left for later, for that reason; `dead`: a dead letter. */
export type Settled = {
  eventId: string
  type: string
  tenant: string
  outcome: string
  reason: string | null
}

export type Changed = {
  tenant: string
  before: Access | null
  after: Access
  /** The event that caused it, the host product's own link, a read of ours, or nothing but time. */
  cause: { eventId: string; type: string } | 'link' | 'recheck' | 'time'
}

export type Verdict = { tenant: string; expected: Access; actual: Access | null; right: boolean }

export type Ledger = {
  events: number
  deliveries: number
  read: number
  superseded: number
  pending: number
  dead: number
}

export type Moment =
  | { kind: 'began'; start: number; days: number; tenants: readonly Tenant[] }
  | { kind: 'day'; day: number }
  | { kind: 'story'; day: number; title: string }
  | { kind: 'tried'; tried: Tried }
  | { kind: 'settled'; settled: Settled }
  | { kind: 'changed'; changed: Changed }
  | { kind: 'checked'; verdicts: readonly Verdict[]; ledger: Ledger; right: boolean }

export type Tell = (moment: Moment) => void
