// Drift: a whole account beside Stripe, in both directions. Stripe's list names suspects only; each is confirmed by its
// customer, because plain lists leave out test-clock customers and a page may be stale. Writes nothing by itself.
import { preview } from '../entitlements/assess.ts'
import type { StripeReader } from '../stripe/read.ts'
import { driftOf, type Drifted } from '../entitlements/drift.ts'
import { isEnded } from '../entitlements/evidence.ts'
import type { Subscription } from '../entitlements/model.ts'
import { readCustomer, readSubscription } from '../entitlements/snapshot.ts'
import { loadSubscriptionsById } from '../entitlements/subscription-queries.ts'
import { baseless, believedLive, findKnown } from './drift-queries.ts'
import { toldOf } from './explain.ts'
import { readerOf, type Parts } from './parts.ts'

export type Suspect = {
  customerId: string
  kind: Drifted | 'missing_at_stripe' | 'not_linked'
  detail: Record<string, unknown>
  /** Named by Stripe's metadata, where nobody linked the customer. */
  tenantHint: string | null
  /** An operator took the customer from this tenant: no hint may give it back. */
  takenFrom?: string | null
}

export type Difference = Suspect & {
  /** What following Stripe would do. `unsure`: nothing can follow from what it says; the read itself will tell. */
  effect: 'gains' | 'loses' | 'same' | 'unsure' | 'unlinked'
  would: string
}

export type Comparison = { compared: number; differences: Difference[]; stopped: boolean }

type Compare = {
  account: string
  /** Called after each page and each customer: still alive. */
  beat: (line: string) => Promise<void>
  /** More losses than this are not looked for: somebody must look first. */
  lossesMax: number
}

const BELIEVED_PAGE = 1_000

/** Compares and confirms. Throws what the Stripe client throws. */
export const compareAccount = async (
  parts: Parts,
  { account, beat, lossesMax }: Compare,
): Promise<Comparison> => {
  const suspects = new Map<string, Suspect>()
  const add = (suspect: Suspect) => {
    if (!suspects.has(suspect.customerId)) suspects.set(suspect.customerId, suspect)
  }
  const listed = await listSuspects(parts, account, add, beat)
  await missingSuspects(parts, account, listed, add)
  const differences: Difference[] = []
  let losses = 0
  for (const suspect of suspects.values()) {
    const difference = await confirm(parts, account, suspect)
    if (difference !== null) differences.push(difference)
    if (difference?.effect === 'loses' || difference?.effect === 'unsure') losses += 1
    if (losses > lossesMax) break
    await beat(`${differences.length} of ${suspects.size} suspects differ`)
  }
  return { compared: listed.size, differences, stopped: losses > lossesMax }
}

const listSuspects = async (
  parts: Parts,
  account: string,
  add: (suspect: Suspect) => void,
  beat: Compare['beat'],
): Promise<Set<string>> => {
  const listed = new Set<string>()
  for (let after: string | null = null, more = true; more;) {
    const reader = readerOf(parts, account)
    if (reader === null) throw new TypeError(`account ${account} has no API key here`)
    const page = await reader.liveSubscriptions(after)
    for (const suspect of await suspectsOf(parts, account, page.subscriptions)) add(suspect)
    for (const { id } of page.subscriptions) listed.add(id)
    after = page.subscriptions.at(-1)?.id ?? after
    more = page.more
    await beat(`${listed.size} subscriptions compared`)
  }
  return listed
}

type Listed = { id: string; items: { has_more: boolean } }

const suspectsOf = async (parts: Parts, account: string, page: readonly Listed[]): Promise<Suspect[]> => {
  const live = page.flatMap((raw) => {
    const reading = readSubscription(raw)
    return reading.kind === 'unrecognized'
      ? []
      : [{ subscription: reading.value, items: !raw.items.has_more }]
  })
  const customerIds = live.map(({ subscription }) => subscription.customerId)
  const ids = live.map(({ subscription }) => subscription.id)
  const { known, stored } = await parts.database.run(async (db) => ({
    known: new Map((await findKnown(db, { account, customerIds })).map((each) => [each.customer_id, each])),
    stored: new Map((await loadSubscriptionsById(db, { account, ids })).map((each) => [each.id, each])),
  }))
  return live.flatMap(({ subscription, items }) => {
    const customer = known.get(subscription.customerId)
    // What is about to be worked is late, not lost.
    if (customer?.in_flight === true) return []
    if (customer?.tenant_id == null) return notLinked(subscription, customer?.taken_from ?? null)
    const drift = driftOf(subscription, stored.get(subscription.id) ?? null, { items })
    if (drift === null) return []
    const { kind, fields } = drift
    const detail = { subscription: subscription.id, status: subscription.status, fields }
    return [{ customerId: subscription.customerId, kind, detail, tenantHint: null }]
  })
}

const UNPAID_YET = new Set(['incomplete', 'incomplete_expired'])

const notLinked = ({ id, status, customerId, tenantId }: Subscription, takenFrom: string | null): Suspect[] =>
  UNPAID_YET.has(status) || isEnded(status)
    ? []
    : [
        {
          customerId,
          kind: 'not_linked',
          detail: { subscription: id, status },
          tenantHint: tenantId,
          takenFrom,
        },
      ]

const missingSuspects = async (
  parts: Parts,
  account: string,
  listed: ReadonlySet<string>,
  add: (suspect: Suspect) => void,
) => {
  const suspect = (row: { customer_id: string; subscription_id: string }) => {
    const { customer_id: customerId, subscription_id: subscription } = row
    if (listed.has(subscription)) return
    add({ customerId, kind: 'missing_at_stripe', detail: { subscription }, tenantHint: null })
  }
  const limit = BELIEVED_PAGE
  for (const row of await parts.database.run((db) => baseless(db, { account, limit }))) suspect(row)
  for (let after = ''; ;) {
    const page = await parts.database.run((db) => believedLive(db, { account, after, limit }))
    for (const row of page) suspect(row)
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return
    after = last.subscription_id
  }
}

// Null: seen by itself, the customer is as we have it.
const confirm = async (parts: Parts, account: string, suspect: Suspect): Promise<Difference | null> => {
  const reader = readerOf(parts, account)
  if (reader === null) return null
  if (suspect.kind === 'not_linked') {
    const named = suspect.tenantHint ?? (await tenantOf(reader, suspect.customerId))
    const tenantHint = named === suspect.takenFrom ? null : named
    const would = tenantHint === null ? 'nobody said which tenant it is' : `its metadata names ${tenantHint}`
    return { ...suspect, tenantHint, effect: 'unlinked', would }
  }
  const key = { account, customerId: suspect.customerId }
  const seen = await preview(parts, parts.database, { key, reader })
  if (seen.kind !== 'predicted') {
    const would = seen.kind === 'blocked' ? seen.reason : 'vanished_at_stripe'
    return { ...suspect, effect: 'unsure', would }
  }
  if (!seen.changes && suspect.kind === 'missing_at_stripe') return null
  const { losses, gains } = seen.outlook
  const effect = losses.length > 0 ? 'loses' : gains.length > 0 ? 'gains' : 'same'
  return { ...suspect, effect, would: seen.changes ? toldOf(seen.outlook) : 'nothing but our copy of it' }
}

// Set by the host's server on the customer.
const tenantOf = async (reader: StripeReader, customerId: string): Promise<string | null> => {
  const customer = readCustomer(await reader.customer(customerId))
  return customer.kind === 'unrecognized' ? null : customer.value.tenantId
}
