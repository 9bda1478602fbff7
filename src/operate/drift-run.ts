// A run of the drift comparison: what it found is recorded, links and gains are followed at once, losses only within the
// budget; past it nobody loses anything until a person approves the run. Absence alone never ends anyone's access.
import { insertAudit, noteFinding, resolveFinding, resolveLinked } from '../audit/queries.ts'
import { enqueueReconcile } from '../entitlements/sweep.ts'
import { rollBackWith, type Transaction } from '../postgres/pool.ts'
import { compareAccount, type Difference } from './drift.ts'
import {
  approveRun,
  countTenants,
  findRun,
  insertItems,
  insertRun,
  itemsOf,
  listRuns,
  takeUnhealed,
  type DriftRun,
} from './drift-queries.ts'
import { linkCustomer } from './link.ts'
import {
  accountNamed,
  answer,
  refuse,
  sign,
  type Answer,
  type Parts,
  type Refusal,
  type Signed,
} from './parts.ts'

const BUDGET_MIN = 5
const BUDGET_SHARE = 0.01
// Enough to see what kind of trouble it is.
const LOSSES_SHOWN = 500

export type DriftReport = {
  account: string
  /** Null for a dry run: nothing was recorded. */
  run: DriftRun | null
  compared: number
  budget: number
  differences: Difference[]
}

export type DriftInput = {
  account: string
  dryRun: boolean
  /** Null: 5, or 1 % of tenants if that is more. */
  maxRevocations: number | null
  beat?: (line: string) => Promise<void>
}

/** Compares one account with Stripe and follows what may be followed. `found` where a person must look. */
export const runDrift = async (
  parts: Parts,
  { account: name, dryRun, maxRevocations, beat }: DriftInput,
): Promise<Answer<DriftReport>> => {
  const account = accountNamed(parts, name)
  if ('kind' in account) return account
  if (account.client === null) return noKey(name)
  const startedAt = performance.now()
  const tenants = await parts.database.run((db) => countTenants(db, name))
  const budget = maxRevocations ?? Math.max(BUDGET_MIN, Math.ceil(tenants * BUDGET_SHARE))
  const tell = beat ?? (async (line: string) => parts.progress(line))
  const lossesMax = Math.max(budget, LOSSES_SHOWN)
  const { compared, differences } = await compareAccount(parts, { account: name, beat: tell, lossesMax })
  const report = { account: name, compared, budget, differences }
  if (dryRun) return answer({ ...report, run: null }, differences.length > 0)
  const tookMs = performance.now() - startedAt
  const run = await follow(parts, { ...report, tookMs })
  return answer({ ...report, run }, run.state === 'waiting')
}

const noKey = (account: string): Refusal =>
  refuse(
    'conflict',
    `Account ${account} has no API key here: there is nothing to compare with (payload mode).`,
  )

const follow = async (
  parts: Parts,
  { account, compared, budget, differences, tookMs }: Omit<DriftReport, 'run'> & { tookMs: number },
): Promise<DriftRun> => {
  const losing = differences.filter(({ effect }) => effect === 'loses')
  const waits = losing.length > budget
  const run = await parts.database.transaction(async (tx) => {
    const gains = differences.filter(({ effect }) => effect === 'gains').length
    const made = await insertRun(tx, {
      account,
      tookMs,
      compared,
      gains,
      losses: losing.length,
      budget,
      waits,
    })
    const rows = differences.map((each) => ({ ...each, heals: heals(each, waits) }))
    await insertItems(
      tx,
      made.run_id,
      rows.map(({ customerId, kind, detail, effect, would, heals: healed }) => ({
        customerId,
        kind,
        detail: { ...detail, effect, would },
        loses: effect === 'loses',
        healed,
      })),
    )
    for (const each of rows) {
      await record(tx, account, made.run_id, each)
      if (each.heals)
        await enqueueReconcile(tx, parts.queue, { account, customerId: each.customerId, cause: 'drift' })
    }
    await resolveLinked(tx, { account, code: 'live_without_tenant', by: `drift ${made.run_id}` })
    const finding = { account, code: 'drift_budget', subject: account }
    if (waits)
      await noteFinding(tx, { ...finding, detail: { run: made.run_id, losses: losing.length, budget } })
    else await resolveFinding(tx, { ...finding, by: `drift ${made.run_id}` })
    return made
  })
  await linkHinted(parts, account, differences)
  const facts = {
    account,
    run: run.run_id,
    compared,
    differences: differences.length,
    losses: losing.length,
    budget,
  }
  if (waits) parts.log.error({ ...facts, alert: 'drift_budget' }, 'operate.drift')
  else if (differences.length > 0) parts.log.error({ ...facts, alert: 'drift' }, 'operate.drift')
  else parts.log.info(facts, 'operate.drift')
  return run
}

const heals = ({ effect }: Difference, waits: boolean): boolean =>
  effect !== 'unlinked' && !(effect === 'loses' && waits)

const record = async (tx: Transaction, account: string, run: number, each: Difference) => {
  const { customerId, kind, detail, effect, would, tenantHint } = each
  await insertAudit(tx, {
    account,
    eventId: null,
    epoch: null,
    customerId,
    subscriptionId: null,
    kind: 'drifted',
    reason: kind,
    detail: { run, ...detail, effect, would },
  })
  if (kind === 'not_linked' && tenantHint === null)
    await noteFinding(tx, { account, code: 'live_without_tenant', subject: customerId, detail })
}

// The host's server said whose it is, and the event that would have told us was lost.
const linkHinted = async (parts: Parts, account: string, differences: readonly Difference[]) => {
  for (const { customerId, tenantHint: tenantId } of differences) {
    if (tenantId === null) continue
    const link = await linkCustomer(parts, { account, customerId, tenantId, by: 'metadata' })
    if (link.kind !== 'conflict') continue
    await parts.database.transaction((tx) =>
      noteFinding(tx, {
        account,
        code: 'ambiguous_customer_linkage',
        subject: customerId,
        detail: { tenant_id: tenantId },
      }),
    )
  }
}

export type ShownRun = { run: DriftRun; items: Awaited<ReturnType<typeof itemsOf>> }

/** The last runs, newest first; `found` where one waits. */
export const driftList = async (
  parts: Parts,
  { limit }: { limit: number },
): Promise<Answer<readonly DriftRun[]>> => {
  const runs = await parts.database.run((db) => listRuns(db, limit))
  return answer(
    runs,
    runs.some(({ state }) => state === 'waiting'),
  )
}

export const driftShow = async (parts: Parts, { run: runId }: { run: number }): Promise<Answer<ShownRun>> =>
  parts.database.run(async (db) => {
    const run = await findRun(db, runId)
    return run === null
      ? refuse('not_found', `There is no drift run ${runId}.`)
      : answer({ run, items: await itemsOf(db, runId) })
  })

/** Follows Stripe for everybody in a run that waits, losses included. Each is read again first. */
export const driftApprove = (
  parts: Parts,
  { run: runId }: { run: number },
  signed: Signed,
): Promise<Answer<DriftRun>> =>
  parts.database.transaction<Answer<DriftRun>>(async (tx) => {
    const run = await approveRun(tx, { runId, operator: signed.operator })
    if (run === null)
      return rollBackWith<Answer<DriftRun>>(
        refuse('conflict', `Drift run ${runId} does not wait for an approval.`),
      )
    const { account } = run
    for (const customerId of await takeUnhealed(tx, runId))
      await enqueueReconcile(tx, parts.queue, { account, customerId, cause: `drift:${runId}` })
    await resolveFinding(tx, { account, code: 'drift_budget', subject: account, by: signed.operator })
    await sign(tx, signed, {
      verb: 'drift approve',
      target: `${account} run ${runId}`,
      after: { losses: run.losses },
    })
    return answer(run)
  })
