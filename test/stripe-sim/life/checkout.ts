// Checkout sessions, completed at once: the customer comes back paid, or (delayed methods) not paid yet.

import { createCustomer } from './catalog.ts'
import { apiError, invalid } from '../errors.ts'
import { failInvoice, followInvoice, oneOffInvoice, settleInvoice } from './invoices.ts'
import type { NewItem } from './items.ts'
import { sessionWire } from '../wire/checkout.ts'
import { put } from '../state.ts'
import type { Metadata, SessionState, SubState } from '../state.ts'
import { subscribe } from './subscriptions.ts'
import { liveCustomer, need } from '../world.ts'
import type { World } from '../world.ts'

export type CheckoutInput = {
  customer?: string
  email?: string
  tenant?: string
  metadata?: Metadata
  subscriptionMetadata?: Metadata
  items?: NewItem[]
  trialDays?: number
  mode?: 'subscription' | 'payment' | 'setup'
  paymentLink?: boolean
  delayedPayment?: boolean
}

export const checkout = (world: World, input: CheckoutInput): SessionState => {
  const mode = input.mode ?? 'subscription'
  const customer =
    input.customer === undefined
      ? createCustomer(world, input.email === undefined ? {} : { email: input.email })
      : liveCustomer(world, input.customer)
  return world.mutate(customer.id, () => {
    const bought = buy(world, customer.id, mode, input)
    const session = put(world.store, 'session', {
      id: world.id(world.account.livemode ? 'cs_live' : 'cs_test'),
      created: world.now(customer.id),
      customer: customer.id,
      email: customer.email,
      mode,
      clientReferenceId: input.tenant ?? null,
      metadata: { ...input.metadata },
      paymentLink: input.paymentLink === true ? world.id('plink') : null,
      paymentStatus: bought.amount === 0 ? 'no_payment_required' : input.delayedPayment ? 'unpaid' : 'paid',
      subscription: bought.sub?.id ?? null,
      invoice: bought.invoice,
      amount: bought.amount,
    })
    noteSessionLink(world, session, bought.sub)
    world.emit('checkout.session.completed', sessionWire(world, session))
    return session
  })
}

/** The delayed payment of a completed session arrives, or fails. */
export const settleCheckout = (world: World, id: string, payment: 'paid' | 'fails'): SessionState => {
  const session = need(world, 'session', id)
  if (session.paymentStatus !== 'unpaid') throw invalid(`Session ${id} awaits no payment.`)
  const invoice = session.invoice === null ? null : need(world, 'invoice', session.invoice)
  if (payment === 'paid') {
    session.paymentStatus = 'paid'
    if (invoice !== null) {
      settleInvoice(world, invoice)
      followInvoice(world, invoice)
    }
  } else if (invoice !== null) failInvoice(world, invoice)
  const type = payment === 'paid' ? 'async_payment_succeeded' : 'async_payment_failed'
  world.emit(`checkout.session.${type}`, sessionWire(world, session))
  return session
}

type Bought = { sub: SubState | null; invoice: string | null; amount: number }

const buy = (world: World, customer: string, mode: SessionState['mode'], input: CheckoutInput): Bought => {
  if (mode === 'setup') return { sub: null, invoice: null, amount: 0 }
  const items = input.items ?? []
  if (mode === 'payment') {
    const amount = items.reduce(
      (sum, item) => sum + need(world, 'price', item.price).unitAmount * (item.quantity ?? 1),
      0,
    )
    const payment = input.delayedPayment === true ? 'open' : 'paid'
    return { sub: null, invoice: oneOffInvoice(world, { customer, amount, payment }).id, amount }
  }
  if (world.store.customer.get(customer)?.failPayments === true && input.delayedPayment !== true) {
    // Checkout does not complete with a declined card.
    throw apiError(402, { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' })
  }
  const sub = subscribe(world, customer, {
    items,
    ...(input.trialDays === undefined ? {} : { trialDays: input.trialDays }),
    ...(input.subscriptionMetadata === undefined ? {} : { metadata: input.subscriptionMetadata }),
    ...(input.delayedPayment === true ? { firstPayment: 'processing' } : {}),
    bornIncomplete: true,
  })
  const amount = sub.latestInvoice === null ? 0 : need(world, 'invoice', sub.latestInvoice).amount
  return { sub, invoice: sub.latestInvoice, amount }
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
