// The end of the demo: every tenant, as our API answers, against what an independent reading of the simulated Stripe
// expects; and nothing may be left over.
import { type Query, type Service } from '../harness/service.ts'
import { expectedEntitlements, type OracleCatalog } from '../stripe-sim/oracle.ts'
import type { Shop } from '../stripe-sim/sim.ts'
import type { Access, Ledger, Moment, Verdict } from './moments.ts'
import { TENANTS } from './stories.ts'

type Parts = { shop: Shop; service: Service; query: Query; at: number }
type Read = Access & { active: boolean; features: Record<string, { value: unknown }> }

export const check = async ({ shop, service, query, at }: Parts): Promise<Moment & { kind: 'checked' }> => {
  const verdicts: Verdict[] = []
  for (const { id } of TENANTS) {
    const expected = expectedEntitlements(shop, service.catalog as OracleCatalog, id, at)
    const { status, body } = await service.read(id)
    const actual = status === 200 ? (body as Read) : null
    const values = Object.entries(actual?.features ?? {}).map(([name, { value }]) => [name, value] as const)
    const right =
      actual !== null &&
      comparable(expected) === comparable({ ...actual, features: Object.fromEntries(values) })
    verdicts.push({
      tenant: id,
      expected: accessOf(expected),
      actual: actual === null ? null : accessOf(actual),
      right,
    })
  }
  const [ledger] = await query<Ledger>(LEDGER)
  if (ledger === undefined) throw new Error('the ledger cannot be counted')
  const right = verdicts.every((one) => one.right) && ledger.pending === 0 && ledger.dead === 0
  return { kind: 'checked', verdicts, ledger, right }
}

const accessOf = ({ plan, state, seats }: Access): Access => ({ plan, state, seats })

type Comparable = Access & { active: boolean; features: Record<string, unknown> }

const comparable = ({ plan, active, state, seats, features }: Comparable): string =>
  JSON.stringify([
    plan,
    active,
    state,
    seats,
    Object.entries(features).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ])

const LEDGER = `
  select count(*)::int as events, sum(deliveries)::int as deliveries,
    count(*) filter (where outcome in ('applied', 'no_change', 'superseded'))::int as read,
    count(*) filter (where outcome = 'superseded')::int as superseded,
    count(*) filter (where processed_at is null and dead_letter_at is null)::int as pending,
    count(*) filter (where dead_letter_at is not null)::int as dead
  from goodstanding.billing_events`
