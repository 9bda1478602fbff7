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
import { hasOpenFinding, resolveFinding } from '../audit/queries.ts'
import type { WorkerContext } from '../context.ts'
import { drawTicket, type CustomerRow } from '../customers/queries.ts'
import type { Transaction } from '../postgres/pool.ts'
import type { Reason } from '../reasons.ts'
import type { StripeReader } from '../stripe/read.ts'
import { assess } from './assess.ts'
import { DECISION_VERSION } from './decide.ts'
import type { Disagreement } from './disagreement.ts'
import { askInvoice, compare, suspectsStaleRead, type Evidence } from './evidence.ts'
import type { Subscription } from './model.ts'
import { saveInvoices } from './queries.ts'
import { readInvoice } from './snapshot.ts'
import { loadSubscriptions } from './subscription-queries.ts'
import { writeDecided } from './write.ts'

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
export const reconcile = async (
  parts: Parts,
  tx: Transaction,
  input: ReconcileInput,
): Promise<Reconciled> => {
  const { account, customer, evidence, cause } = input
  const key = { account, customerId: customer.customer_id }
  const previous = await loadSubscriptions(tx, key)
  if (await isCovered(parts, tx, input)) return settleCovered(tx, input, previous)
  const { ticket, now } = await drawTicket(tx)
  const assessed = await assess(parts, (work) => work(tx), {
    key,
    previous,
    evidence,
    now,
    reader: input.openReader(),
  })
  if (assessed.kind === 'blocked') return { ...assessed, answered: true }
  if (assessed.kind === 'vanished') return assessed
  const { live, snapshot, question, decision } = assessed
  const { catalog, hash: catalogHash } = parts.catalog()
  const stale = suspectsStaleRead(evidence, snapshot.subscriptions)
  const finding = { account, code: 'stale_read_suspected', subject: key.customerId }
  if (!stale) await resolveFinding(tx, { ...finding, by: cause })
  await resolveFinding(tx, { ...finding, code: 'vanished_at_stripe', by: cause })
  const changed = await writeDecided(tx, key, {
    tenantId: customer.tenant_id,
    cause,
    basis: { kind: 'read', ticket },
    previous,
    snapshot,
    invoices: [...live.openInvoices, ...(live.invoice ? [live.invoice] : [])],
    decision,
    catalogHash,
    previousCatalogHash: customer.catalog_hash,
    staleGraceHours: catalog.staleGraceHours,
  })
  const disagreements = compare(evidence, snapshot.subscriptions)
  return {
    kind: 'reconciled',
    changed,
    disagreements,
    reason: question?.reason ?? null,
    stale,
    covered: false,
  }
}

const unanswered = (reason: Reason, error: string): Reconciled => ({
  kind: 'blocked',
  reason,
  error,
  answered: false,
})

const isCovered = async (
  parts: Parts,
  tx: Transaction,
  { account, customer, evidence }: ReconcileInput,
): Promise<boolean> =>
  evidence !== null &&
  evidence.epoch === 1 &&
  customer.read_ticket > evidence.receivedSeq &&
  customer.catalog_hash === parts.catalog().hash &&
  customer.decision_version === DECISION_VERSION &&
  !(await hasOpenFinding(tx, { account, code: 'stale_read_suspected', subject: customer.customer_id }))

const settleCovered = async (
  tx: Transaction,
  input: ReconcileInput,
  stored: readonly Subscription[],
): Promise<Reconciled> => {
  const reading =
    input.evidence?.topic === 'invoice' && input.evidence.object !== null
      ? readInvoice(input.evidence.object)
      : null
  if (reading?.kind === 'unrecognized') return unanswered('unrecognized_stripe_payload', reading.why)
  const question = askInvoice(input.evidence, reading?.value ?? null, stored)
  if (question?.kind === 'stop') return unanswered(question.reason, question.error)
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
