// read -> decide -> diff -> write, for one customer, inside the caller's transaction and under the customer's lock.
//
// Entitlements are a function of Stripe's live state, not of the event: the event only says which customer to look
// at. The read starts after the lock is held and the lock lasts until COMMIT, so an older read can never overwrite a
// newer one; its ticket, drawn before it starts, proves that (recordRead refuses to go backwards). No row of the
// event is touched before the read, so that a redelivery never waits behind Stripe.
//
// An event whose number is below the ticket of a committed read was received before that read began; whatever caused
// it is already in. It is "covered": Stripe is not asked again and nothing is decided again (time may have passed,
// and no one loses access by time alone without a read); what it says is still recorded and compared.
import { hasOpenFinding, noteFinding, resolveFinding } from '../audit/queries.ts'
import type { WorkerContext } from '../context.ts'
import { drawTicket, recordRead, touchTenant, type CustomerKey, type CustomerRow } from '../customers/queries.ts'
import { AppError } from '../errors.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { StripeReader } from '../stripe/read.ts'
import type { Reason } from '../reasons.ts'
import type { Instant } from '../time.ts'
import { decide, DECISION_VERSION } from './decide.ts'
import { diff } from './diff.ts'
import { isEnded, readLiveState, type LiveState } from './live.ts'
import type { Decision, Finding, Invoice, Snapshot, Subscription } from './model.ts'
import { loadMappings, saveInvoices, saveMapping } from './queries.ts'
import { loadSubscriptions, saveSubscriptions } from './subscription-queries.ts'
import { insertHistory, loadEntitlements, putEntitlements, removeEntitlements } from './rows-queries.ts'
import { disagreements, type Disagreement } from './disagreement.ts'
import { readInvoice, readSubscription, remember } from './snapshot.ts'

/** What an event brings along: identity and evidence, never state. */
export type Evidence = {
  receivedSeq: number
  epoch: number
  topic: 'subscription' | 'invoice' | 'other'
  /** `data.object` as received; null for thin events. */
  object: Record<string, unknown> | null
  subscriptionId: string | null
  invoiceId: string | null
}

export type Reconciled =
  | {
      kind: 'reconciled'
      /** Did anything that is stored change? */
      changed: boolean
      disagreements: Disagreement[]
      /** Why nothing had to change, where the invoice says so. */
      reason: Reason | null
      /** Stripe answered with an older state than the evidence proves: look again soon. */
      stale: boolean
      covered: boolean
    }
  /** Nothing was written. `vanished`: subscriptions that Stripe does not know any more, to be looked into. */
  | { kind: 'blocked'; reason: Reason; error: string; answered: boolean }
  | { kind: 'vanished'; subscriptionIds: string[] }

export type ReconcileInput = {
  account: string
  customer: CustomerRow & { tenant_id: string }
  evidence: Evidence | null
  /** Recorded as the cause in the history: an event's id or a job's name. */
  cause: string
  openReader: () => StripeReader
}

type Parts = Pick<WorkerContext, 'catalog'>

/** Brings one linked customer in line with Stripe. Throws what the Stripe client throws. */
export const reconcile = async (parts: Parts, tx: Transaction, input: ReconcileInput): Promise<Reconciled> => {
  const key = { account: input.account, customerId: input.customer.customer_id }
  const previous = await loadSubscriptions(tx, key)
  if (await isCovered(parts, tx, input)) return settleCovered(tx, input, previous)
  const { ticket, now } = await drawTicket(tx)
  const live = await readLiveState(input.openReader(), {
    customerId: key.customerId,
    knownLive: previous.filter(({ status }) => !isEnded(status)),
    subscriptionId: input.evidence?.subscriptionId ?? null,
    invoiceId: input.evidence?.invoiceId ?? null,
  })
  if (live.kind === 'unknown_customer') return blocked('unknown_at_stripe', key.customerId, true)
  if (live.kind === 'unreadable') return blocked('unrecognized_stripe_payload', live.why, true)
  if (live.vanished.length > 0) return { kind: 'vanished', subscriptionIds: live.vanished }
  const question = askInvoice(input.evidence, live.invoice, live.snapshot.subscriptions)
  if (question?.kind === 'stop') return blocked(question.reason, question.error, true)
  const snapshot = withMemory(live, previous, now)
  const { catalog, hash } = parts.catalog()
  const priceIds = snapshot.subscriptions.flatMap(({ items }) => items.map(({ priceId }) => priceId))
  const remembered = await loadMappings(tx, key.account, priceIds)
  const decision = decide({ snapshot, catalog, remembered, now, mode: 'live', about: aboutOf(input.evidence) })
  if (decision.kind === 'blocked') return blocked(decision.reason, decision.subjects.join(', '), true)
  const projected = await writeProjections(tx, key.account, { previous, snapshot, invoices: [...live.openInvoices, ...(live.invoice ? [live.invoice] : [])] })
  const changed = await writeEntitlements(tx, key, input, decision, catalog.staleGraceHours)
  const forward = await recordRead(tx, {
    ...key,
    ticket,
    deleted: snapshot.deleted,
    testClockAt: snapshot.clockAt,
    catalogHash: hash,
    decisionVersion: DECISION_VERSION,
    recheckAt: decision.recheckAt,
  })
  if (!forward) throw new AppError('entitlements/read_went_backwards', { ticket })
  await noteFindings(tx, key, decision.findings)
  const stale = suspectsStaleRead(input.evidence, snapshot.subscriptions)
  if (!stale) await resolveFinding(tx, { account: key.account, code: 'stale_read_suspected', subject: key.customerId, by: input.cause })
  await touchTenant(tx, { tenantId: input.customer.tenant_id, changed })
  return {
    kind: 'reconciled',
    changed: changed || projected,
    disagreements: compare(input.evidence, snapshot.subscriptions),
    reason: question?.reason ?? null,
    stale,
    covered: false,
  }
}

const aboutOf = (evidence: Evidence | null): string | null => (evidence?.topic === 'subscription' ? evidence.subscriptionId : null)

const blocked = (reason: Reason, error: string, answered: boolean): Reconciled => ({ kind: 'blocked', reason, error, answered })

const isCovered = async (parts: Parts, tx: Transaction, { account, customer, evidence }: ReconcileInput): Promise<boolean> =>
  evidence !== null &&
  evidence.epoch === 1 &&
  customer.read_ticket > evidence.receivedSeq &&
  customer.catalog_hash === parts.catalog().hash &&
  customer.decision_version === DECISION_VERSION &&
  !(await hasOpenFinding(tx, { account, code: 'stale_read_suspected', subject: customer.customer_id }))

const settleCovered = async (tx: Transaction, input: ReconcileInput, stored: readonly Subscription[]): Promise<Reconciled> => {
  const reading = input.evidence?.topic === 'invoice' && input.evidence.object !== null ? readInvoice(input.evidence.object) : null
  if (reading?.kind === 'unrecognized') return blocked('unrecognized_stripe_payload', reading.why, false)
  const question = askInvoice(input.evidence, reading?.value ?? null, stored)
  if (question?.kind === 'stop') return blocked(question.reason, question.error, false)
  if (reading !== null) await saveInvoices(tx, input.account, [reading.value])
  return {
    kind: 'reconciled',
    changed: false,
    disagreements: compare(input.evidence, stored),
    reason: question?.reason ?? null,
    stale: suspectsStaleRead(input.evidence, stored),
    covered: true,
  }
}

type InvoiceQuestion = { kind: 'note'; reason: Reason } | { kind: 'stop'; reason: Reason; error: string } | null

// The payload's own facts must agree, too: an invoice that names two subscriptions cannot be trusted in either.
const askInvoice = (evidence: Evidence | null, live: Invoice | null, known: readonly Subscription[]): InvoiceQuestion => {
  if (evidence?.topic !== 'invoice') return null
  const payload = evidence.object === null ? null : readInvoice(evidence.object)
  if (payload?.kind === 'unrecognized') return { kind: 'stop', reason: 'unrecognized_stripe_payload', error: payload.why }
  const subscriptionId = live?.subscriptionId ?? payload?.value.subscriptionId ?? null
  if (subscriptionId === null) return { kind: 'note', reason: 'invoice_without_subscription' }
  if (known.some(({ id }) => id === subscriptionId)) return null
  return { kind: 'stop', reason: 'ambiguous_invoice_subscription', error: subscriptionId }
}

const withMemory = (live: Extract<LiveState, { kind: 'live' }>, previous: readonly Subscription[], now: Instant): Snapshot => ({
  ...live.snapshot,
  subscriptions: live.snapshot.subscriptions.map((current) =>
    remember({
      previous: previous.find(({ id }) => id === current.id) ?? null,
      current,
      openInvoices: live.openInvoices,
      now: live.snapshot.clockAt ?? now,
    }),
  ),
})

const writeProjections = async (
  tx: Transaction,
  account: string,
  read: { previous: readonly Subscription[]; snapshot: Snapshot; invoices: readonly Invoice[] },
): Promise<boolean> => {
  const before = new Map(read.previous.map((subscription) => [subscription.id, JSON.stringify(sorted(subscription))]))
  const changed = read.snapshot.subscriptions.filter(({ id, ...rest }) => before.get(id) !== JSON.stringify(sorted({ id, ...rest })))
  await saveSubscriptions(tx, account, changed)
  await saveInvoices(tx, account, [...new Map(read.invoices.map((invoice) => [invoice.id, invoice])).values()])
  return changed.length > 0
}

const sorted = (value: object) => Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))

const writeEntitlements = async (
  tx: Transaction,
  key: CustomerKey,
  { customer, cause }: ReconcileInput,
  decision: Extract<Decision, { kind: 'decided' }>,
  staleGraceHours: number,
): Promise<boolean> => {
  const current = await loadEntitlements(tx, key)
  const { put, remove, changes } = diff({ current, desired: decision.entitlements, held: decision.held })
  const tenantId = customer.tenant_id
  await removeEntitlements(tx, key, remove)
  await putEntitlements(tx, { ...key, tenantId, staleGraceHours, rows: put })
  await insertHistory(tx, { ...key, tenantId, cause, changes })
  for (const [priceId, plan] of Object.entries(decision.mappings)) {
    await saveMapping(tx, { account: key.account, priceId, plan })
  }
  return changes.length > 0
}

const noteFindings = async (tx: Transaction, { account }: CustomerKey, findings: readonly Finding[]) => {
  for (const { code, subject, detail } of findings) await noteFinding(tx, { account, code, subject, detail })
}

const compare = (evidence: Evidence | null, live: readonly Subscription[]): Disagreement[] => {
  if (evidence?.topic !== 'subscription' || evidence.object === null) return []
  const mine = live.find(({ id }) => id === evidence.subscriptionId)
  return mine === undefined
    ? [{ input: 'status', payload: statusIn(evidence.object), live: null }]
    : disagreements(evidence.object, mine)
}

const statusIn = (object: Record<string, unknown>) => (typeof object['status'] === 'string' ? object['status'].slice(0, 40) : null)

// No subscription comes back from an end; a read that says so is older than the event.
const suspectsStaleRead = (evidence: Evidence | null, live: readonly Subscription[]): boolean => {
  if (evidence?.topic !== 'subscription' || evidence.object === null) return false
  const payload = readSubscription(evidence.object)
  const mine = live.find(({ id }) => id === evidence.subscriptionId)
  return payload.kind === 'read' && mine !== undefined && isEnded(payload.value.status) && !isEnded(mine.status)
}
