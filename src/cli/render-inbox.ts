// Answers about the inbox as lines for people. Cuts nothing, adds nothing; empty where there is nothing.
import type { Subscription } from '../entitlements/model.ts'
import type { DataOf } from '../operate/operations.ts'
import { toIso } from '../time.ts'
import { age, listed, table } from './table.ts'

export const renderStatus = (data: DataOf<'status'>): string[] => {
  const accounts = data.accounts.map((each) => [
    each.account,
    each.livemode === null ? 'unknown' : each.livemode ? 'live' : 'test',
    each.state,
    each.stopped_since === null ? '' : age(each.now - each.stopped_since),
    each.resumes,
    each.ready,
    each.oldest_ready_at === null ? '' : age(each.now - each.oldest_ready_at),
    each.deferred,
    each.pending,
    each.dead,
    each.max_attempts,
    each.received_last_minute,
    each.processed_last_minute,
    each.last_received_at === null ? 'never' : `${age(each.now - each.last_received_at)} ago`,
  ])
  const sweeps = data.sweeps.map(
    ({ account, name, ended_at: endedAt, failures, last_error: error, result }) => [
      account,
      name,
      toIso(endedAt) ?? 'not yet',
      failures === 0 ? JSON.stringify(result ?? {}) : `failed ${failures} times: ${error}`,
    ],
  )
  const workers = data.workers.map((each) => [
    each.worker,
    each.version,
    toIso(each.seen_at),
    each.alive ? 'alive' : 'gone',
  ])
  return [
    data.verdict,
    ...table(ACCOUNT_HEAD, accounts),
    ...(data.active > 0 ? [`${data.active} attempts are under way.`] : []),
    ...(sweeps.length > 0 ? ['', ...table(['ACCOUNT', 'SWEEP', 'LAST RUN', 'RESULT'], sweeps)] : []),
    ...(workers.length > 0 ? ['', ...table(['WORKER', 'VERSION', 'SEEN', 'STATE'], workers)] : []),
    ...data.revocation_holds.map(
      (hold) =>
        `Revocations of ${hold.account ?? 'all accounts'} are held until ${toIso(hold.until_at)} by ${hold.operator}: ${hold.reason}`,
    ),
  ]
}

const ACCOUNT_HEAD = [
  'ACCOUNT',
  'MODE',
  'STATE',
  'SINCE',
  'GOES ON',
  'READY',
  'OLDEST',
  'DEFERRED',
  'PENDING',
  'DEAD',
  'TRIES',
  'IN/MIN',
  'DONE/MIN',
  'LAST EVENT',
]

export const renderEvents = (data: DataOf<'events-list'>): string[] =>
  listed(
    data,
    'No events.',
    ['EVENT', 'ACCOUNT', 'TYPE', 'CUSTOMER', 'STATE', 'REASON', 'LIFE', 'TRIES', 'RECEIVED'],
    (each) => [
      each.event_id,
      each.account,
      each.type,
      each.customer_id,
      each.status,
      each.reason,
      each.epoch,
      each.attempts,
      toIso(each.received_at),
    ],
  )

export const renderDead = (data: DataOf<'dead-list'>): string[] =>
  listed(
    data,
    'No dead letters.',
    ['EVENT', 'ACCOUNT', 'TYPE', 'REASON', 'LIFE', 'DEAD SINCE', 'WHAT TO DO'],
    (each) => [
      each.event_id,
      each.account,
      each.type,
      each.reason,
      each.epoch,
      toIso(each.dead_letter_at),
      each.todo,
    ],
  )

export const renderGroups = (data: DataOf<'dead-groups'>): string[] =>
  listed(
    data,
    'No dead letters.',
    ['DEAD', 'CUSTOMERS', 'ACCOUNT', 'REASON', 'TYPE', 'OLDEST', 'EXAMPLE', 'WHAT TO DO'],
    (each) => [
      each.dead,
      each.customers,
      each.account,
      each.reason,
      each.type,
      toIso(each.oldest_at),
      each.example,
      each.todo,
    ],
  )

export const renderEvent = ({ event, attempts, trail }: DataOf<'events-show'>): string[] => {
  const facts: [string, string | number | null][] = [
    ['customer', event.customer_id],
    ['object', event.object_id],
    ['came by', event.source],
    ['received', toIso(event.received_at)],
    ['processed', toIso(event.processed_at)],
    ['dead since', toIso(event.dead_letter_at)],
    ['next try', toIso(event.next_attempt_at)],
    ['outcome', event.outcome],
    ['reason', event.reason],
    ['last error', event.last_error],
    ['life', event.epoch],
    ['attempts', event.attempts],
    ['what to do', event.todo],
  ]
  const tries = attempts.map((each) => [each.epoch, toIso(each.started_at), each.outcome, each.code])
  const recorded = trail.map((each) => [toIso(each.at), each.kind, each.epoch, each.by, each.reason])
  return [
    `${event.event_id} (${event.type}) of account ${event.account} is ${event.status}.`,
    ...facts.flatMap(([name, value]) =>
      value === null || value === '' ? [] : [`  ${name.padEnd(11)} ${value}`],
    ),
    ...indented(['LIFE', 'TRIED AT', 'OUTCOME', 'CODE'], tries),
    ...indented(['RECORDED AT', 'WHAT', 'LIFE', 'BY', 'REASON'], recorded),
  ]
}

const indented = (head: string[], rows: (string | number | null)[][]): string[] =>
  rows.length === 0 ? [] : table(head, rows).map((line) => `  ${line}`)

export const renderBeside = ({ stored, stripe, ...facts }: DataOf<'dead-show'>): string[] => {
  const live = stripe.kind === 'live' ? stripe.subscriptions : []
  const ids = [...new Set([...stored, ...live].map(({ id }) => id))].toSorted()
  const text = (list: readonly Subscription[], id: string) => {
    const found = list.find((each) => each.id === id)
    return found === undefined ? '' : subscriptionText(found)
  }
  const rows = ids.map((id) => [id, text(stored, id), stripe.kind === 'live' ? text(live, id) : '?'])
  return [
    ...renderEvent(facts),
    ...indented(['SUBSCRIPTION', 'STORED', 'STRIPE NOW'], rows),
    stripe.kind === 'live' ? `  A requeue: ${stripe.would}.` : `  No live state: ${stripe.why}.`,
  ]
}

/** "active, price_pro x 2, until 2027-01-31…". */
export const subscriptionText = (subscription: Subscription): string => {
  const items = subscription.items.map(({ priceId, quantity }) => `${priceId} x ${quantity ?? 'metered'}`)
  const ends = subscription.endedAt ?? subscription.cancelAt
  const periods = subscription.items.flatMap(({ periodEnd }) => periodEnd ?? [])
  return [
    subscription.status,
    ...items,
    ...(ends === null ? [] : [`ends ${toIso(ends)}`]),
    ...(subscription.cancelAtPeriodEnd ? ['cancels at the end of its period'] : []),
    ...(ends === null && periods.length > 0 ? [`period until ${toIso(Math.min(...periods))}`] : []),
  ].join(', ')
}

export const renderFindings = (data: DataOf<'findings-list'>): string[] =>
  listed(
    data,
    'No findings.',
    ['FINDING', 'ACCOUNT', 'CODE', 'SUBJECT', 'FIRST SEEN', 'TIMES', 'SEEN BY', 'DETAIL'],
    (each) => [
      each.finding_id,
      each.account,
      each.code,
      each.subject,
      toIso(each.first_seen_at),
      each.seen,
      each.acked_by,
      JSON.stringify(each.detail),
    ],
  )

export const renderQueues = (data: DataOf<'queue'>): string[] =>
  table(
    ['QUEUE', 'WAITING', 'DUE', 'OLDEST DUE', 'ACTIVE', 'RETRIED', 'FAILED', 'DONE'],
    data.map((each) => [
      each.queue,
      each.waiting,
      each.due,
      toIso(each.oldest_due_at),
      each.active,
      each.retried,
      each.failed,
      each.done,
    ]),
  )

export const renderCatchup = (data: DataOf<'catchup'>): string[] =>
  data.flatMap(({ account, from, through, here, at_stripe: asked, stored }) => [
    `Account ${account}, events made ${from} to ${through}:`,
    `  here: ${here.processed} processed, ${here.ignored} ignored, ${here.pending} pending, ${here.dead} dead (${here.caught_up} found missing before)`,
    asked === null
      ? '  Stripe was not asked: no API key here.'
      : `  Stripe lists ${asked.listed}, of which we work ${asked.worked}: ${
          asked.missing.length === 0
            ? 'none is missing.'
            : `${asked.missing.length} are missing, ${stored} stored now.`
        }`,
    ...(asked?.missing ?? []).map(({ id, type, created }) => `    ${id}  ${type}  ${created}`),
  ])
