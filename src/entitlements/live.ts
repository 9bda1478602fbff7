// Reads one customer whole from Stripe and brings it into our shape. An absence in a list is confirmed object by
// object before it is believed. Writes nothing.
import { idOf } from '../ids.ts'
import { readStripeFailure } from '../stripe/failure.ts'
import type { StripeReader } from '../stripe/read.ts'
import type { Invoice, Snapshot, Subscription } from './model.ts'
import { readCustomer, readInvoice, readSubscription } from './snapshot.ts'

export type LiveState =
  | {
      kind: 'live'
      /** Without the remembered facts (snapshot.ts `remember`). */
      snapshot: Snapshot
      openInvoices: Invoice[]
      /** The invoice that was asked for, as it is now. */
      invoice: Invoice | null
      /** Stored live subscriptions that Stripe does not know any more. */
      vanished: string[]
    }
  | { kind: 'unknown_customer' }
  | { kind: 'unreadable'; why: string }

export type LiveQuestion = {
  customerId: string
  /** Subscriptions that were live when last read. */
  knownLive: readonly Subscription[]
  /** Named by the event, where it names one. */
  subscriptionId: string | null
  invoiceId: string | null
}

/** Asks Stripe for everything that the customer's access depends on. Throws what the Stripe client throws. */
export const readLiveState = async (reader: StripeReader, question: LiveQuestion): Promise<LiveState> => {
  const listed = await listSubscriptions(reader, question.customerId)
  const first = listed[0] as { customer?: unknown } | undefined
  const rawCustomer =
    typeof first?.customer === 'object' ? first.customer : await reader.customer(question.customerId)
  if (rawCustomer === null) {
    return question.knownLive.length === 0 ? { kind: 'unknown_customer' } : gone(question)
  }
  const customer = readCustomer(rawCustomer)
  if (customer.kind === 'unrecognized') return { kind: 'unreadable', why: customer.why }
  const confirmed = await confirmAbsent(reader, question, new Set(listed.map(({ id }) => id)))
  const subscriptions: Subscription[] = []
  for (const raw of [...listed, ...confirmed.found]) {
    const reading = readSubscription(raw)
    if (reading.kind === 'unrecognized') return { kind: 'unreadable', why: reading.why }
    subscriptions.push(reading.value)
  }
  const invoices = await readInvoices(reader, question, subscriptions)
  if (invoices.kind === 'unreadable') return invoices
  const { deleted, tenantId, testClockId } = customer.value
  const clockSeconds = testClockId === null ? null : await reader.testClock(testClockId)
  return {
    kind: 'live',
    snapshot: {
      customerId: question.customerId,
      deleted,
      tenantId,
      clockAt: clockSeconds === null ? null : clockSeconds * 1_000,
      subscriptions: subscriptions.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    },
    openInvoices: invoices.open,
    invoice: invoices.asked,
    vanished: deleted ? [] : confirmed.vanished,
  }
}

const gone = ({ customerId, knownLive }: LiveQuestion): LiveState => ({
  kind: 'live',
  snapshot: { customerId, deleted: false, tenantId: null, clockAt: null, subscriptions: [] },
  openInvoices: [],
  invoice: null,
  vanished: knownLive.map(({ id }) => id),
})

// Filtering by a customer that Stripe does not know is an error there, not an empty list.
const listSubscriptions = async (reader: StripeReader, customerId: string) => {
  try {
    return await reader.subscriptionsOf(customerId)
  } catch (error) {
    if (readStripeFailure(error)?.kind === 'missing') return []
    throw error
  }
}

const confirmAbsent = async (reader: StripeReader, question: LiveQuestion, listed: Set<string>) => {
  const found: object[] = []
  const vanished: string[] = []
  const known = question.knownLive.map(({ id }) => id)
  const asked = question.subscriptionId === null ? known : [...known, question.subscriptionId]
  for (const id of new Set(asked)) {
    if (listed.has(id)) continue
    const subscription = await reader.subscription(id)
    if (subscription !== null && idOf(subscription.customer) === question.customerId) found.push(subscription)
    if (subscription === null && known.includes(id)) vanished.push(id)
  }
  return { found, vanished }
}

type Invoices =
  | { kind: 'invoices'; open: Invoice[]; asked: Invoice | null }
  | { kind: 'unreadable'; why: string }

const readInvoices = async (
  reader: StripeReader,
  question: LiveQuestion,
  subscriptions: readonly Subscription[],
): Promise<Invoices> => {
  const open: Invoice[] = []
  if (subscriptions.some(({ status }) => status === 'past_due')) {
    for (const raw of await reader.openInvoicesOf(question.customerId)) {
      const reading = readInvoice(raw)
      if (reading.kind === 'unrecognized') return { kind: 'unreadable', why: reading.why }
      open.push(reading.value)
    }
  }
  if (question.invoiceId === null) return { kind: 'invoices', open, asked: null }
  const known = open.find(({ id }) => id === question.invoiceId)
  if (known !== undefined) return { kind: 'invoices', open, asked: known }
  const raw = await reader.invoice(question.invoiceId)
  if (raw === null) return { kind: 'invoices', open, asked: null }
  const reading = readInvoice(raw)
  return reading.kind === 'unrecognized'
    ? { kind: 'unreadable', why: reading.why }
    : { kind: 'invoices', open, asked: reading.value }
}
