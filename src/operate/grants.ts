// What people decide beside Stripe: a grant or denial by hand, a hold of all revocations, a finding that was seen.
import type { FeatureValue } from '../entitlements/model.ts'
import { insertTenant, readClock, touchTenant } from '../customers/queries.ts'
import { rollBackWith } from '../postgres/pool.ts'
import { toIso } from '../time.ts'
import {
  ackFinding,
  endRevocationHold,
  holdRevocations,
  insertOverride,
  listFindings,
  listOverrides,
  revokeOverride,
  type Override,
  type ShownFinding,
} from './grants-queries.ts'
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

export type Grant = {
  tenant: string
  feature: string
  /** A denial has no value. */
  deny: boolean
  value?: FeatureValue | undefined
  /** ISO time; one of both is required, so that nobody grants for ever by forgetting. */
  until?: string | undefined
  permanent: boolean
}

/** Allows or denies a feature by hand, whatever Stripe says. */
export const addGrant = async (parts: Parts, grant: Grant, signed: Signed): Promise<Answer<Override>> => {
  const { tenant, feature, deny, value, permanent } = grant
  if ((grant.until !== undefined) === permanent)
    return refuse('bad_request', 'Say until when (--until), or --permanent; one of both.')
  if (deny && value !== undefined) return refuse('bad_request', 'A denial has no value.')
  const until = grant.until ?? null
  const past = await pastEnd(parts, until)
  if (past !== null) return past
  return parts.database.transaction<Answer<Override>>(async (tx) => {
    await insertTenant(tx, tenant)
    const effect = deny ? 'deny' : 'allow'
    const given = deny ? null : (value ?? true)
    const made = await insertOverride(tx, {
      ...signed,
      tenantId: tenant,
      feature,
      effect,
      value: given,
      until,
    })
    await touchTenant(tx, { tenantId: tenant, changed: true })
    await sign(tx, signed, {
      verb: 'grant add',
      target: tenant,
      after: { feature, effect, value: given, until },
    })
    return answer(made)
  })
}

const pastEnd = async ({ database }: Parts, until: string | null): Promise<Refusal | null> =>
  until !== null && Date.parse(until) <= (await database.run(readClock))
    ? refuse('bad_request', `${until} is over already.`)
    : null

/** Ends a grant or denial now. */
export const revokeGrant = (
  parts: Parts,
  { grant }: { grant: number },
  signed: Signed,
): Promise<Answer<Override>> =>
  parts.database.transaction<Answer<Override>>(async (tx) => {
    const revoked = await revokeOverride(tx, grant)
    if (revoked === null)
      return rollBackWith<Answer<Override>>(refuse('conflict', `No grant ${grant} is in force.`))
    await touchTenant(tx, { tenantId: revoked.tenant_id, changed: true })
    const { tenant_id: target, feature, effect, value } = revoked
    await sign(tx, signed, { verb: 'grant revoke', target, before: { grant, feature, effect, value } })
    return answer(revoked)
  })

export const listGrants = async (
  parts: Parts,
  input: { tenant?: string | undefined; all: boolean; limit: number },
): Promise<Answer<readonly Override[]>> => answer(await parts.database.run((db) => listOverrides(db, input)))

/** From now on nobody loses access, neither by what is read nor by an end that passes, until `until`. */
export const holdAll = async (
  parts: Parts,
  input: { account?: string | undefined; until: string },
  signed: Signed,
): Promise<Answer<{ account: string | null; until: string | null }>> => {
  const account = input.account ?? null
  const known = account === null ? null : accountNamed(parts, account)
  if (known !== null && 'kind' in known) return known
  const past = await pastEnd(parts, input.until)
  if (past !== null) return past
  const held = await parts.database.transaction(async (tx) => {
    const row = await holdRevocations(tx, { ...signed, account, until: input.until })
    const after = { until: toIso(row.until_at) }
    await sign(tx, signed, { verb: 'hold revocations', target: account ?? 'all accounts', after })
    return row
  })
  return answer({ account, until: toIso(held.until_at) })
}

/** Ends a hold of revocations; what was held is read again and followed. */
export const endHoldAll = (
  parts: Parts,
  input: { account?: string | undefined },
  signed: Signed,
): Promise<Answer<{ account: string | null }>> =>
  parts.database.transaction<Answer<{ account: string | null }>>(async (tx) => {
    const account = input.account ?? null
    if (!(await endRevocationHold(tx, account)))
      return rollBackWith<Answer<{ account: string | null }>>(refuse('conflict', 'No such hold is in force.'))
    await sign(tx, signed, { verb: 'hold end', target: account ?? 'all accounts' })
    return answer({ account })
  })

export const findings = async (
  parts: Parts,
  input: { account?: string | undefined; code?: string | undefined; all: boolean; limit: number },
): Promise<Answer<readonly ShownFinding[]>> =>
  answer(await parts.database.run((db) => listFindings(db, input)))

/** A person has seen it: it stays open, and `status` does not count it any more. */
export const ack = (
  parts: Parts,
  { finding }: { finding: number },
  signed: Signed,
): Promise<Answer<ShownFinding>> =>
  parts.database.transaction<Answer<ShownFinding>>(async (tx) => {
    const seen = await ackFinding(tx, { findingId: finding, operator: signed.operator })
    if (seen === null)
      return rollBackWith<Answer<ShownFinding>>(refuse('conflict', `There is no open finding ${finding}.`))
    await sign(tx, signed, { verb: 'findings ack', target: `${seen.account} ${seen.code} ${seen.subject}` })
    return answer(seen)
  })
