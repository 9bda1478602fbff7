// The state of everything in one look, and one sentence that says whether a person should do something.
import {
  accountStates,
  countActive,
  countFindings,
  lastSweeps,
  listWorkers,
  type AccountState,
} from './status-queries.ts'
import { listHolds } from './grants-queries.ts'
import { answer, type Answer, type Parts } from './parts.ts'
import { toIso } from '../time.ts'

export type Status = {
  verdict: string
  problems: string[]
  accounts: (AccountState & {
    state: string
    /** What makes it go on; empty where it runs. */
    resumes: string
  })[]
  /** Attempts under way, of all workers. */
  active: number
  workers: Awaited<ReturnType<typeof listWorkers>>
  sweeps: Awaited<ReturnType<typeof lastSweeps>>
  findings: Awaited<ReturnType<typeof countFindings>>
  revocation_holds: Awaited<ReturnType<typeof listHolds>>
}

/** Every account at a glance; `found` where a person should look. */
export const status = async (parts: Parts): Promise<Answer<Status>> =>
  parts.database.run(async (db) => {
    const accounts = (await accountStates(db)).map((each) => ({ ...each, ...stateOf(each) }))
    const workers = await listWorkers(db)
    const active = await countActive(db)
    const sweeps = await lastSweeps(db)
    const findings = await countFindings(db)
    const holds = await listHolds(db)
    const problems = [
      ...accounts.flatMap((each) => problemsOf(each, parts.recoveryObjectiveMs)),
      ...(workers.some(({ alive }) => alive) ? [] : ['no worker is alive']),
      ...sweeps
        .filter(({ failures }) => failures > 0)
        .map(({ account, name, failures }) => `the ${name} sweep of ${account} failed ${failures} times`),
      ...findings.map(({ account, code, open }) => `${open} x ${code} (${account})`),
      ...holds.map(({ until_at: until }) => `revocations are held until ${toIso(until)}`),
    ]
    const verdict = problems.length === 0 ? 'All is in order.' : `Look at this: ${problems.join('; ')}.`
    return answer(
      { verdict, problems, accounts, active, workers, sweeps, findings, revocation_holds: holds },
      problems.length > 0,
    )
  })

const stateOf = ({ hold, pause_cause: cause, probe_at: probe, account }: AccountState) => {
  if (hold) return { state: 'hold', resumes: `activate ${account}` }
  if (cause === null) return { state: 'runs', resumes: '' }
  return {
    state: cause,
    resumes: probe === null ? `account resume ${account}` : 'by itself, when Stripe answers',
  }
}

const problemsOf = (each: AccountState, objectiveMs: number): string[] => [
  ...(each.hold ? [`${each.account} is in hold`] : []),
  ...(each.pause_cause === null ? [] : [`${each.account} is paused (${each.pause_cause})`]),
  ...(each.oldest_ready_at !== null && each.now - each.oldest_ready_at > objectiveMs
    ? [`${each.account} is behind`]
    : []),
  ...(each.dead > 0 ? [`${each.dead} dead letters (${each.account})`] : []),
]
