// The words and colours that both views have for deliveries, outcomes and tenants.
import type { Access, Changed, Ledger, Settled, Tried } from './moments.ts'
import type { Span, Style } from './paint.ts'
import type { Row } from './scene.ts'

const OUTCOMES: Record<string, string> = {
  applied: 'applied',
  no_change: 'confirms what we have',
  superseded: 'outdated on arrival',
}

// A sign and a word each, so that no state is told by colour alone.
const STATES: Record<string, { sign: string; style: Style }> = {
  active: { sign: '●', style: 'green' },
  trial: { sign: '◐', style: 'cyan' },
  grace: { sign: '▲', style: 'yellow' },
  suspended: { sign: '■', style: 'red' },
  pending: { sign: '○', style: 'magenta' },
  ended: { sign: '×', style: 'dim' },
}

export const stateOf = (state: string): { sign: string; style: Style } =>
  STATES[state] ?? { sign: '·', style: 'dim' }

export const describeAccess = (access: Access | null): string => {
  if (access === null) return 'unknown'
  const { plan, state, seats } = access
  return `${plan} ${state}${seats === null ? '' : `, ${seats} ${seats === 1 ? 'seat' : 'seats'}`}`
}

/** How an event came, in the order in which it matters; empty: once, in time, in order. */
export const describeTrip = ({ tries, settled }: Row): string => {
  const some = (check: (tried: Tried) => boolean) => tries.some(check)
  const late = tries.find(({ daysLate }) => daysLate > 0)
  const refused = tries.find(({ status }) => status !== null && status >= 300)
  return [
    ...(some(({ status }) => status === null) ? ['lost'] : []),
    ...(refused === undefined ? [] : [`answered ${refused.status}`]),
    ...(late === undefined ? [] : [`${late.redelivered ? 'redelivered' : 'late'} +${late.daysLate}d`]),
    ...(some(({ doubled }) => doubled) ? ['twice'] : []),
    ...(some(({ overtaken }) => overtaken) ? ['out of order'] : []),
    ...(tries.length === 0 && settled !== null ? ['had waited'] : []),
  ].join(', ')
}

export const styleOfTrip = (trip: string): Style =>
  trip.startsWith('lost') || trip.startsWith('answered') ? 'red' : trip === '' ? 'dim' : 'yellow'

export const describeOutcome = ({ tries, settled, changed }: Row): Span => {
  const last = changed.at(-1)
  if (last !== undefined) return [`→ ${describeAccess(last.after)}`, stateOf(last.after.state).style]
  if (settled === null)
    return [tries.every(({ status }) => status === null) ? 'Stripe will try again' : 'received', 'dim']
  const [text, style] = wordsFor(settled)
  return [text, style]
}

const wordsFor = ({ outcome, reason }: Settled): [string, Style] => {
  if (outcome === 'waiting') return [`waits: ${words(reason)}`, 'magenta']
  if (outcome === 'dead') return [`dead letter: ${words(reason)}`, 'red']
  return [OUTCOMES[outcome] ?? words(outcome), outcome === 'superseded' ? 'yellow' : 'dim']
}

export const describeCause = ({ cause }: Changed): string => {
  if (cause === 'time') return 'by time alone'
  if (cause === 'link') return 'by the link of our API'
  return cause === 'recheck' ? 'by a read of our own' : `by ${cause.type}`
}

const words = (code: string | null): string => (code ?? 'no reason').replaceAll('_', ' ')

export const describeLedger = ({ events, deliveries, read, superseded, pending, dead }: Ledger): string[] => [
  `${events} events in ${deliveries} deliveries: ${read} compared with Stripe, ${superseded} outdated on arrival`,
  `${pending} pending, ${dead} dead letters`,
]
