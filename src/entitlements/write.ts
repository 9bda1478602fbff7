// Writes what a read of one customer, or an event of it, led to: projections, entitlements with their history, the read
// itself with its ticket, findings; the tenant last. Called under the customer's lock, inside the savepoint.
import { noteFinding, resolveFinding } from '../audit/queries.ts'
import { recordEvidence, recordRead, touchTenant, type CustomerKey } from '../customers/queries.ts'
import { AppError } from '../errors.ts'
import type { Transaction } from '../postgres/pool.ts'
import { DECISION_VERSION } from './decide.ts'
import { earliest, type Instant } from '../time.ts'
import { diff, equal, isHeld } from './diff.ts'
import type { Decision, Entitlement, Finding, Invoice, Snapshot, Subscription } from './model.ts'
import { rowsToKeep } from './outlook.ts'
import { saveInvoices, saveMapping } from './queries.ts'
import {
  findRevocationHold,
  insertHistory,
  keepStaleGrace,
  loadEntitlements,
  putEntitlements,
  removeEntitlements,
} from './rows-queries.ts'
import { saveSubscriptions } from './subscription-queries.ts'

/** What was decided from: a read with its ticket, or events, as of the newest of them (payload mode). */
export type Basis =
  | { kind: 'read'; ticket: number }
  | {
      kind: 'events'
      evidenceAt: Instant | null
      payment: { payment: 'paid' | 'failed'; at: Instant } | null
      /** Was nothing ever decided before? */
      first: boolean
    }

export type Decided = {
  tenantId: string
  /** Recorded in the history: an event's id or a job's name. */
  cause: string
  basis: Basis
  previous: readonly Subscription[]
  snapshot: Snapshot
  invoices: readonly Invoice[]
  decision: Extract<Decision, { kind: 'decided' }>
  catalogHash: string
  /** By which catalog the customer was decided before; null where never. */
  previousCatalogHash: string | null
  staleGraceHours: number
}

/** Returns whether anything that is stored changed. Throws where a newer read was written before. */
export const writeDecided = async (tx: Transaction, key: CustomerKey, decided: Decided): Promise<boolean> => {
  const { decision, basis } = decided
  const projected = await writeProjections(tx, key.account, decided)
  const { changed, heldUntil } = await writeEntitlements(tx, key, decided)
  await recordBasis(tx, key, decided, heldUntil)
  await noteFindings(tx, key, decision.findings)
  // The first evidence turns unknown into none, though no entitlement changes.
  const news = changed || (basis.kind === 'events' && basis.first)
  await touchTenant(tx, { tenantId: decided.tenantId, changed: news })
  return changed || projected
}

const recordBasis = async (
  tx: Transaction,
  key: CustomerKey,
  { snapshot, decision, basis, catalogHash }: Decided,
  heldUntil: Instant | null,
) => {
  const stamp = { ...key, deleted: snapshot.deleted, catalogHash, decisionVersion: DECISION_VERSION }
  if (basis.kind === 'events') {
    await recordEvidence(tx, { ...stamp, evidenceAt: basis.evidenceAt, payment: basis.payment })
    return
  }
  const forward = await recordRead(tx, {
    ...stamp,
    ticket: basis.ticket,
    testClockAt: snapshot.clockAt,
    // What is held is read again at its own end: nothing else would notice that the end has moved.
    recheckAt: earliest(decision.recheckAt, heldUntil),
  })
  if (!forward) throw new AppError('entitlements/read_went_backwards', { ticket: basis.ticket })
}

const writeProjections = async (
  tx: Transaction,
  account: string,
  read: Pick<Decided, 'previous' | 'snapshot' | 'invoices'>,
): Promise<boolean> => {
  const before = new Map(read.previous.map((subscription) => [subscription.id, subscription]))
  const changed = read.snapshot.subscriptions.filter((each) => !equal(before.get(each.id), each))
  await saveSubscriptions(tx, account, changed)
  await saveInvoices(tx, account, [
    ...new Map(read.invoices.map((invoice) => [invoice.id, invoice])).values(),
  ])
  return changed.length > 0
}

const writeEntitlements = async (
  tx: Transaction,
  key: CustomerKey,
  { tenantId, cause, decision, catalogHash, previousCatalogHash, staleGraceHours }: Decided,
): Promise<{ changed: boolean; heldUntil: Instant | null }> => {
  const current = await loadEntitlements(tx, key)
  const both = { current, desired: decision.entitlements, held: decision.held }
  const keep = await heldBack(tx, key, { ...both, cause })
  const replaced = both.desired.filter((row) => !keep.some((kept) => isSameRow(kept, row)))
  const { put, remove, changes } = diff({ ...both, desired: [...replaced, ...keep] })
  await removeEntitlements(tx, key, remove)
  await putEntitlements(tx, { ...key, tenantId, staleGraceHours, rows: put })
  await insertHistory(tx, { ...key, tenantId, cause, changes })
  // Rows that are as they were keep the grace of the catalog that wrote them.
  if (catalogHash !== previousCatalogHash) await keepStaleGrace(tx, { ...key, staleGraceHours })
  // In one order, here and below: rows that customers share would deadlock otherwise.
  for (const [priceId, plan] of Object.entries(decision.mappings).toSorted(byFirst)) {
    await saveMapping(tx, { account: key.account, priceId, plan })
  }
  const kept = [...current.filter((row) => isHeld(row, decision.held)), ...keep]
  return { changed: changes.length > 0, heldUntil: earliest(...kept.map((row) => row.recheckAt)) }
}

type Both = { current: readonly Entitlement[]; desired: readonly Entitlement[]; held: readonly string[] }

const isSameRow = (a: Entitlement, b: Entitlement) => a.itemId === b.itemId && a.feature === b.feature

/** Rows that stay as they are because an operator holds revocations; when the hold ends they are decided again. */
const heldBack = async (
  tx: Transaction,
  key: CustomerKey,
  { current, desired, held, cause }: Both & { cause: string },
): Promise<Entitlement[]> => {
  const finding = { account: key.account, code: 'revocation_held', subject: key.customerId }
  const losing = rowsToKeep(current, desired, held)
  if (losing.length === 0 || !(await findRevocationHold(tx, key.account))) {
    await resolveFinding(tx, { ...finding, by: cause })
    return []
  }
  const features = [...new Set(losing.map(({ feature }) => feature))].toSorted().join(', ')
  await noteFinding(tx, { ...finding, detail: { features } })
  return losing
}

const byFirst = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)

const noteFindings = async (tx: Transaction, { account }: CustomerKey, findings: readonly Finding[]) => {
  const ordered = findings.toSorted((a, b) => (a.code + a.subject < b.code + b.subject ? -1 : 1))
  for (const { code, subject, detail } of ordered) await noteFinding(tx, { account, code, subject, detail })
}
