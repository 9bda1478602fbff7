// What operators do: `requeue`, `resolve --discard`, `account pause|resume`. Each is recorded with name and reason.
import { insertOperatorAction } from '../audit/queries.ts'
import type { Config } from '../config.ts'
import { EXIT } from '../exit.ts'
import { attemptsOf, findShown } from '../inbox/operate-queries.ts'
import { discardEvent, requeueEvent, type Recovery } from '../inbox/recover.ts'
import { pauseAccount, resumeAccount } from '../stripe/queries.ts'
import { describe } from './inspect.ts'
import { withOperatorDatabase, withOperatorQueue, type Signed } from './operator.ts'
import type { Out } from './program.ts'

export type OnEvent = Signed & { eventId: string; account: string | null; dryRun: boolean }

/** Gives a dead letter another life; with `dryRun` it only shows what is there. */
export const requeue = (config: Config, input: OnEvent, out: Out): Promise<number> =>
  onEvent(config, input, out, { act: requeueEvent, done: 'is pending again and runs at once' })

/** Closes a dead letter: what it said is not applied. */
export const discard = (config: Config, input: OnEvent, out: Out): Promise<number> =>
  onEvent(config, input, out, { act: discardEvent, done: 'is discarded' })

const onEvent = (
  config: Config,
  { dryRun, ...asked }: OnEvent,
  out: Out,
  { act, done }: { act: typeof requeueEvent; done: string },
): Promise<number> =>
  withOperatorQueue(config, out, async (database, queue) => {
    for (const event of await database.run((db) => findShown(db, asked.eventId))) {
      const key = { account: event.account, eventId: event.event_id }
      describe(event, await database.run((db) => attemptsOf(db, key)), out)
    }
    if (dryRun) return EXIT.ok
    const recovery = await act({ database, queue }, asked)
    if (recovery.kind === 'done') out.result(`${asked.eventId} ${done}.`)
    else out.problem(explain(recovery, asked.eventId))
    return CODES[recovery.kind]
  })

const CODES = {
  done: EXIT.ok,
  not_found: EXIT.not_found,
  several: EXIT.usage,
  not_dead: EXIT.conflict,
} as const

const explain = (recovery: Exclude<Recovery, { kind: 'done' }>, eventId: string): string => {
  if (recovery.kind === 'not_found') return `There is no event ${eventId}.`
  if (recovery.kind === 'several')
    return `Several accounts have an event ${eventId}: say which by --account (${recovery.accounts.join(', ')}).`
  const { status, epoch } = recovery.event
  return `${eventId} is not dead but ${status} (life ${epoch}): somebody was faster, or nothing needs to be done.`
}

/** Stops all reads of an account until `account resume`. */
export const accountPause = (config: Config, input: Signed & { account: string }, out: Out) =>
  onAccount(config, input, out, {
    verb: 'account pause',
    act: (db) => pauseAccount(db, { account: input.account, cause: 'paused_by_operator', probeMs: null }),
    done: 'is paused: events are stored, nothing is applied until `account resume`',
    refused: 'is paused already',
  })

/** Lifts any pause, also one that no probe may lift. */
export const accountResume = (config: Config, input: Signed & { account: string }, out: Out) =>
  onAccount(config, input, out, {
    verb: 'account resume',
    act: (db) => resumeAccount(db, input.account),
    done: 'goes on',
    refused: 'is not paused',
  })

const onAccount = (
  config: Config,
  { account, operator, reason }: Signed & { account: string },
  out: Out,
  how: {
    verb: string
    act: (db: Parameters<typeof resumeAccount>[0]) => Promise<boolean>
    done: string
    refused: string
  },
): Promise<number> => {
  if (!config.accounts.some(({ name }) => name === account)) {
    const names = config.accounts.map(({ name }) => name).join(', ')
    out.problem(`There is no account ${account}; configured: ${names}.`)
    return Promise.resolve(EXIT.not_found)
  }
  return withOperatorDatabase(config, out, async (database) => {
    const changed = await database.transaction(async (tx) => {
      if (!(await how.act(tx))) return false
      const paused = how.verb === 'account pause'
      await insertOperatorAction(tx, {
        operator,
        reason,
        verb: how.verb,
        target: account,
        before: { paused: !paused },
        after: { paused },
      })
      return true
    })
    if (changed) out.result(`Account ${account} ${how.done}.`)
    else out.problem(`Account ${account} ${how.refused}.`)
    return changed ? EXIT.ok : EXIT.conflict
  })
}
