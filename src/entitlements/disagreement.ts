// Where a payload and the live read differ in something that decides access. It must compare facts, not renderings:
// what an API version leaves out, moves or says in another way is no disagreement.
import { idOf, isOfOtherKind } from '../ids.ts'
import { earliest } from '../time.ts'
import type { Instant } from '../time.ts'
import { fieldsOf, instantOf } from './fields.ts'
import type { Fields } from './fields.ts'
import type { Item, Subscription } from './model.ts'
import { pauseOf, readItems } from './snapshot.ts'

/** The inputs of a decision: instants in ms, items as "price x quantity" in alphabetical order. */
export type Inputs = {
  status: string
  scheduled_end: Instant | null
  ended_at: Instant | null
  trial_end: Instant | null
  pause: string | null
  items: string
}

export type Disagreement = {
  input: keyof Inputs
  payload: string | number | null
  live: string | number | null
}

const INPUTS = ['status', 'scheduled_end', 'ended_at', 'trial_end', 'pause', 'items'] as const

/** What `payload`, an object of any kind, says otherwise than `live`. Empty unless it is that subscription. */
export const disagreements = (payload: unknown, live: Subscription): Disagreement[] => {
  const fields = fieldsOf(payload)
  if (fields === null || idOf(payload) !== live.id) return []
  const said = inputsOf(payload)
  const read = liveInputs(fields, live, said)
  return INPUTS.flatMap((input) => {
    const value = said[input]
    return value === undefined || value === read[input] ? [] : [{ input, payload: value, live: read[input] }]
  })
}

/** The decision inputs that are present, and readable, in a subscription's payload of any API version. */
export const inputsOf = (payload: unknown): Partial<Inputs> => {
  const fields = fieldsOf(payload)
  if (fields === null || isOfOtherKind(fields, 'subscription')) return {}
  const has = (key: string) => fields[key] !== undefined
  const data = fieldsOf(fields['items'])?.['data']
  const items = readable((problems) => readItems({ ...fields, items: { data } }, problems)) ?? []
  const said = {
    status: typeof fields['status'] === 'string' ? fields['status'] : undefined,
    scheduled_end: scheduledEndOf(fields, items),
    ended_at: endedAtOf(fields),
    trial_end: has('trial_end')
      ? readable((problems) => instantOf(fields, 'trial_end', problems))
      : undefined,
    pause: has('pause_collection') ? readable((problems) => pauseText(pauseOf(fields, problems))) : undefined,
    items: items.length > 0 ? linesOf(items).join(', ') : undefined,
  }
  return Object.fromEntries(
    Object.entries(said).filter(([, value]) => value !== undefined),
  ) as Partial<Inputs>
}

/** The live side, said as far as the payload's shape could say it. */
const liveInputs = (fields: Fields, live: Subscription, said: Partial<Inputs>): Inputs => {
  const atPeriodEnd = live.cancelAtPeriodEnd ? earliest(...live.items.map((item) => item.periodEnd)) : null
  // Before cancel_at existed, "not at the period's end" said nothing of a fixed date.
  const flagOnly = fields['cancel_at'] === undefined && fields['cancel_at_period_end'] === false
  const firstPage = fieldsOf(fields['items'])?.['has_more'] === true
  const shown = said.items?.split(', ') ?? []
  const lines = linesOf(live.items)
  return {
    status: live.status,
    scheduled_end: flagOnly ? atPeriodEnd : (live.cancelAt ?? atPeriodEnd),
    ended_at: live.endedAt,
    trial_end: live.trialEnd,
    pause: pauseText(live.pause),
    items: (firstPage ? lines.filter((line) => shown.includes(line)) : lines).join(', '),
  }
}

/** The fixed date, else the earliest period's end where the flag is set; undefined where the payload does not say. */
const scheduledEndOf = (fields: Fields, items: Item[]): Instant | null | undefined => {
  const flag = fields['cancel_at_period_end']
  if (fields['cancel_at'] === undefined && flag === undefined) return undefined
  const fixed = readable((problems) => instantOf(fields, 'cancel_at', problems))
  if (fixed !== null || flag !== true) return fixed
  return earliest(...items.map((item) => item.periodEnd)) ?? undefined
}

/** Old shapes say `canceled_at` only. */
const endedAtOf = (fields: Fields): Instant | null | undefined => {
  const ended = readable((problems) => instantOf(fields, 'ended_at', problems))
  if (ended !== null || fields['status'] !== 'canceled')
    return fields['ended_at'] === undefined ? undefined : ended
  return readable((problems) => instantOf(fields, 'canceled_at', problems)) ?? undefined
}

const readable = <T>(read: (problems: string[]) => T): T | undefined => {
  const problems: string[] = []
  const value = read(problems)
  return problems.length === 0 ? value : undefined
}

const linesOf = (items: Item[]): string[] =>
  items.map((item) => `${item.priceId} x ${item.quantity ?? 'metered'}`).toSorted()

const pauseText = (pause: Subscription['pause']): string | null =>
  pause === null ? null : `${pause.behavior} until ${pause.resumesAt ?? 'resumed'}`
