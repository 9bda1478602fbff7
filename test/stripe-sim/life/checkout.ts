// Checkout sessions: opened, completed by the customer (paid, or by a delayed method not paid yet) or expired.

import { apiError, declined, invalid } from '../errors.ts'
import type { Metadata, SessionState, SubState } from '../records.ts'
import { put } from '../state.ts'
import { sessionWire } from '../wire/checkout.ts'
import { liveCustomer, need } from '../world.ts'
import type { World } from '../world.ts'
import { createCustomer } from './customers.ts'
import { attemptIntent, confirmIntent, createIntent, settleProcessing } from './intents.ts'
import { oneOffInvoice } from './invoice-verbs.ts'
import { failInvoice, followInvoice, settleInvoice } from './invoices.ts'
import type { NewItem } from './items.ts'
import { attachMethod, methodNamed } from './methods.ts'
import { subscribe } from './subscriptions.ts'

const SESSION_LIVES = 86_400

export type SessionInput = {
  customer?: string
  email?: string
  clientReferenceId?: string
  metadata?: Metadata
  subscriptionMetadata?: Metadata
  items: NewItem[]
  trialDays?: number
  mode: SessionState['mode']
  methodTypes?: string[]
  paymentLink?: boolean
  successUrl?: string
  cancelUrl?: string
}
/** Verbs open and complete in one. */
export type CheckoutInput = Partial<Omit<SessionInput, 'clientReferenceId'>> & {
  tenant?: string
  delayedPayment?: boolean
}

export const openSession = (world: World, input: SessionInput): SessionState => {
  const items = input.items.map(({ price, quantity = 1 }) => ({ price, quantity }))
  const prices = items.map(({ price }) => need(world, 'price', price, 'line_items[0][price]'))
  const customer = input.customer === undefined ? undefined : liveCustomer(world, input.customer)
  return put(world.store, 'session', {
    id: world.id(world.account.livemode ? 'cs_live' : 'cs_test'),
    created: world.now(customer?.id),
    status: 'open',
    customer: customer?.id ?? null,
    email: input.email ?? customer?.email ?? null,
    mode: input.mode,
    clientReferenceId: input.clientReferenceId ?? null,
    metadata: { ...input.metadata },
    subscriptionMetadata: { ...input.subscriptionMetadata },
    trialDays: input.trialDays ?? null,
    items,
    methodTypes: input.methodTypes ?? ['card'],
    paymentLink: input.paymentLink === true ? world.id('plink') : null,
    paymentStatus: 'unpaid',
    paymentIntent: null,
    subscription: null,
    invoice: null,
    currency: prices[0]?.currency ?? 'usd',
    amount: items.reduce((sum, { quantity }, index) => sum + (prices[index]?.unitAmount ?? 0) * quantity, 0),
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
  })
}

export const checkout = (world: World, input: CheckoutInput): SessionState => {
  const { tenant, delayedPayment = false, ...rest } = input
  const made =
    rest.customer ?? createCustomer(world, rest.email === undefined ? {} : { email: rest.email }).id
  const customer = liveCustomer(world, made)
  if (customer.failPayments && !delayedPayment && rest.mode !== 'setup' && rest.mode !== 'payment') {
    // Checkout does not complete with a declined card.
    throw apiError(402, { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' })
  }
  return world.mutate(customer.id, () => {
    const session = openSession(world, {
      mode: 'subscription',
      items: [],
      successUrl: 'https://example.com/done',
      ...rest,
      customer: customer.id,
      ...(tenant === undefined ? {} : { clientReferenceId: tenant }),
    })
    return complete(world, session, delayedPayment ? 'processing' : 'paid')
  })
}

/** The customer fills the page in with a payment method; expired or completed pages cannot be. */
export const confirmSession = (
  world: World,
  session: SessionState,
  how: { method: string; expectedAmount: number | undefined },
): SessionState => {
  if (session.status !== 'open') throw invalid(`This Checkout Session is ${session.status}.`)
  if (how.expectedAmount !== undefined && how.expectedAmount !== session.amount) {
    throw invalid('The amount of the Checkout Session has changed.', 'expected_amount')
  }
  const method = methodNamed(world, how.method)
  if (method.outcome === 'declines') throw declined()
  const delayed = method.outcome.startsWith('processing')
  if (session.customer === null && session.mode !== 'payment') {
    session.customer = createCustomer(world, { ...emailOf(session), unseenCard: false }).id
  }
  if (session.customer !== null) {
    attachMethod(world, method, session.customer)
    need(world, 'customer', session.customer).defaultMethod ??= method.id
  }
  if (session.mode === 'payment') payOnce(world, session, method.id)
  else complete(world, session, delayed ? 'processing' : 'paid', method.id)
  if (session.paymentStatus !== 'unpaid') return session
  // The bank's answer: here it comes at once, at Stripe within days.
  return settleCheckout(world, session.id, method.outcome === 'processing_fails' ? 'fails' : 'paid')
}

const emailOf = ({ email }: SessionState) => (email === null ? {} : { email })

// A guest pays: an intent, and neither customer nor invoice.
const payOnce = (world: World, session: SessionState, method: string): void => {
  const { customer, amount, currency, methodTypes } = session
  const intent = createIntent(world, { customer, amount, currency, methodTypes, method })
  session.paymentIntent = intent.id
  confirmIntent(world, intent)
  session.paymentStatus = intent.status === 'succeeded' ? 'paid' : 'unpaid'
  finish(world, session, null)
}

const complete = (
  world: World,
  session: SessionState,
  payment: 'paid' | 'processing',
  method?: string,
): SessionState => {
  const customer = session.customer ?? ''
  let sub: SubState | null = null
  if (session.mode === 'payment') {
    const open = payment === 'processing' ? 'open' : 'paid'
    session.invoice = oneOffInvoice(world, { customer, amount: session.amount, payment: open }).id
  } else if (session.mode === 'subscription') {
    sub = subscribe(world, customer, {
      items: session.items,
      ...(session.trialDays === null ? {} : { trialDays: session.trialDays }),
      metadata: session.subscriptionMetadata,
      firstPayment: payment,
      bornIncomplete: true,
      ...(method === undefined ? {} : { defaultMethod: method }),
    })
    session.subscription = sub.id
    session.invoice = sub.latestInvoice
    session.amount = sub.latestInvoice === null ? 0 : need(world, 'invoice', sub.latestInvoice).amount
  }
  const free = session.mode === 'setup' || session.amount === 0
  session.paymentStatus = free ? 'no_payment_required' : payment === 'processing' ? 'unpaid' : 'paid'
  finish(world, session, sub)
  return session
}

const finish = (world: World, session: SessionState, sub: SubState | null): void => {
  session.status = 'complete'
  noteSessionLink(world, session, sub)
  world.emit('checkout.session.completed', sessionWire(world, session))
}

/** The delayed payment of a completed session arrives, or fails. */
export const settleCheckout = (world: World, id: string, payment: 'paid' | 'fails'): SessionState => {
  const session = need(world, 'session', id)
  if (session.paymentStatus !== 'unpaid' || session.status !== 'complete') {
    throw invalid(`Session ${id} awaits no payment.`)
  }
  const invoice = session.invoice === null ? null : need(world, 'invoice', session.invoice)
  if (invoice === null) {
    const intent = need(world, 'intent', session.paymentIntent ?? '')
    if (payment === 'fails') attemptIntent(world, intent, 'declines', intent.method)
    else settleProcessing(world, intent)
  } else if (payment === 'paid') {
    settleInvoice(world, invoice)
    followInvoice(world, invoice)
  } else failInvoice(world, invoice)
  if (payment === 'paid') session.paymentStatus = 'paid'
  const type = payment === 'paid' ? 'async_payment_succeeded' : 'async_payment_failed'
  world.emit(`checkout.session.${type}`, sessionWire(world, session))
  return session
}

export const expireSession = (world: World, session: SessionState): SessionState => {
  if (session.status !== 'open') throw invalid('Only Checkout Sessions with a status of open can be expired.')
  session.status = 'expired'
  world.emit('checkout.session.expired', sessionWire(world, session))
  return session
}

/** Those that nobody filled in for a day; answers how many. */
export const expireSessions = (world: World): number => {
  const over = [...world.store.session.values()].filter(
    ({ status, created, customer }) =>
      status === 'open' && created + SESSION_LIVES <= world.now(customer ?? undefined),
  )
  for (const session of over) expireSession(world, session)
  return over.length
}

// Metadata is set by the host's server; a reference that a payment link's payer can alter is no evidence.
const noteSessionLink = (world: World, session: SessionState, sub: SubState | null): void => {
  if (session.customer === null) return
  const stated =
    session.metadata['tenant_id'] ??
    sub?.metadata['tenant_id'] ??
    world.store.customer.get(session.customer)?.metadata['tenant_id']
  const reference = session.paymentLink === null ? session.clientReferenceId : null
  const tenant = stated ?? reference
  if (tenant === null || tenant === '') return
  const source = stated === undefined ? 'client_reference_id' : 'metadata'
  world.evidence.push({ customer: session.customer, tenant, source })
}
