// What operators look at: `status`, `dead list`, `events show`. Tables for people, `--json` for programs; no payloads.
import type { Config } from '../config.ts'
import { EXIT } from '../exit.ts'
import {
  accountStates,
  attemptsOf,
  findShown,
  lastSweeps,
  listDead,
  type ShownEvent,
} from '../inbox/operate-queries.ts'
import { REASONS } from '../reasons.ts'
import { toIso } from '../time.ts'
import { withOperatorDatabase } from './operator.ts'
import type { Out } from './program.ts'
import { age, table } from './table.ts'

export type Shown = { json: boolean }

/** Every account at a glance; exit code 3 where a person should look. */
export const status = (config: Config, { json }: Shown, out: Out): Promise<number> =>
  withOperatorDatabase(config, out, async (database) => {
    const accounts = await database.run(accountStates)
    const sweeps = await database.run(lastSweeps)
    const late = accounts.filter(
      ({ oldest_due_at: oldest, now }) => oldest !== null && now - oldest > config.recoveryObjectiveMs,
    )
    const stopped = accounts.filter(({ hold, pause_cause: cause }) => hold || cause !== null)
    const dead = accounts.reduce((sum, each) => sum + each.dead, 0)
    const wrong = [
      ...stopped.map(({ account, hold }) => `${account} ${hold ? 'is in hold' : 'is paused'}`),
      ...late.map(({ account }) => `${account} is behind`),
      ...(dead > 0 ? [`${dead} dead letters`] : []),
    ]
    if (json) out.result(JSON.stringify({ ok: wrong.length === 0, problems: wrong, accounts, sweeps }))
    else {
      out.result(wrong.length === 0 ? 'All is in order.' : `Look at this: ${wrong.join('; ')}.`)
      const head = [
        'ACCOUNT',
        'STATE',
        'SINCE',
        'GOES ON',
        'DUE',
        'OLDEST',
        'DEFERRED',
        'PENDING',
        'DEAD',
        'LAST EVENT',
      ]
      const rows = accounts.map((each) => [
        each.account,
        each.hold ? 'hold' : (each.pause_cause ?? 'runs'),
        each.stopped_since === null ? '' : age(each.now - each.stopped_since),
        goesOn(each),
        each.due,
        each.oldest_due_at === null ? '' : age(each.now - each.oldest_due_at),
        each.deferred,
        each.pending,
        each.dead,
        each.last_received_at === null ? 'never' : `${age(each.now - each.last_received_at)} ago`,
      ])
      for (const line of table(head, rows)) out.result(line)
      for (const { account, name, failures, last_error: error } of sweeps.filter((each) => each.failures > 0))
        out.result(`Sweep ${name} of ${account} failed ${failures} times: ${error}`)
    }
    return wrong.length === 0 ? EXIT.ok : EXIT.found_problems
  })

const goesOn = (each: { hold: boolean; pause_cause: string | null; probe_at: number | null }): string => {
  if (each.hold) return 'by activate'
  if (each.pause_cause === null) return ''
  return each.probe_at === null ? 'by account resume' : 'by itself'
}

/** Dead letters, newest first, with what to do about each. */
export const deadList = (
  config: Config,
  { json, limit }: Shown & { limit: number },
  out: Out,
): Promise<number> =>
  withOperatorDatabase(config, out, async (database) => {
    const dead = await database.run((db) => listDead(db, limit))
    if (json) out.result(JSON.stringify(dead.map(publicFields)))
    else if (dead.length === 0) out.result('No dead letters.')
    else {
      const rows = dead.map((each) => [
        each.event_id,
        each.account,
        each.type,
        each.reason,
        each.epoch,
        toIso(each.dead_letter_at),
        todoOf(each),
      ])
      for (const line of table(
        ['EVENT', 'ACCOUNT', 'TYPE', 'REASON', 'LIFE', 'DEAD SINCE', 'WHAT TO DO'],
        rows,
      ))
        out.result(line)
    }
    return EXIT.ok
  })

const todoOf = ({ reason }: ShownEvent): string =>
  reason !== null && reason in REASONS ? REASONS[reason as keyof typeof REASONS].todo : ''

const publicFields = ({ job_id: _job, ...rest }: ShownEvent) => rest

/** One event with all its attempts; exit code 5 where there is none. */
export const eventShow = (
  config: Config,
  { json, eventId }: Shown & { eventId: string },
  out: Out,
): Promise<number> =>
  withOperatorDatabase(config, out, async (database) => {
    const events = await database.run((db) => findShown(db, eventId))
    if (events.length === 0) {
      out.problem(`There is no event ${eventId}.`)
      return EXIT.not_found
    }
    for (const event of events) {
      const attempts = await database.run((db) => attemptsOf(db, { account: event.account, eventId }))
      if (json) out.result(JSON.stringify({ ...publicFields(event), attempts_made: attempts }))
      else describe(event, attempts, out)
    }
    return EXIT.ok
  })

type Attempt = { epoch: number; started_at: number; outcome: string; code: string | null }

/** For people, before something is done to it, too. */
export const describe = (event: ShownEvent, attempts: readonly Attempt[], out: Out): void => {
  out.result(`${event.event_id} (${event.type}) of account ${event.account} is ${event.status}.`)
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
    ['what to do', todoOf(event)],
  ]
  for (const [name, value] of facts)
    if (value !== null && value !== '') out.result(`  ${name.padEnd(11)} ${value}`)
  const rows = attempts.map((each) => [each.epoch, toIso(each.started_at), each.outcome, each.code])
  if (rows.length > 0)
    for (const line of table(['LIFE', 'TRIED AT', 'OUTCOME', 'CODE'], rows)) out.result(`  ${line}`)
}
