// Payment methods: Stripe's test cards and accounts, attached to customers, and what a charge of them comes to.
// Source of the names: https://docs.stripe.com/testing

import { declined, missing } from '../errors.ts'
import type { MethodState, PaymentOutcome } from '../records-payments.ts'
import type { Metadata, SubState } from '../records.ts'
import { put } from '../state.ts'
import { methodWire } from '../wire/payments.ts'
import { changing, need } from '../world.ts'
import type { World } from '../world.ts'

export type MethodInput = {
  type: MethodState['type']
  token?: string
  iban?: string
  email?: string
  name?: string
  metadata?: Metadata
}

export const createMethod = (world: World, input: MethodInput): MethodState =>
  put(world.store, 'method', {
    id: world.id('pm'),
    created: world.now(),
    type: input.type,
    outcome: input.type === 'card' ? outcomeOfCard(input.token ?? '') : outcomeOfIban(input.iban ?? ''),
    refusedOnAttach: /chargeDeclined/.test(input.token ?? ''),
    customer: null,
    last4: input.type === 'card' ? '4242' : (input.iban ?? '').slice(-4),
    email: input.email ?? null,
    name: input.name ?? null,
    metadata: { ...input.metadata },
  })

/** One that exists, or a fresh one of a test card: `pm_card_visa`, `tok_chargeCustomerFail`. */
export const methodNamed = (world: World, name: string, param = 'payment_method'): MethodState => {
  const known = world.store.method.get(name)
  if (known !== undefined) return known
  if (!/^(pm_card|tok)_/.test(name)) throw missing('PaymentMethod', name, param)
  return createMethod(world, { type: 'card', token: name })
}

export const attachMethod = (world: World, method: MethodState, customer: string): MethodState => {
  need(world, 'customer', customer, 'customer')
  // Some test cards are refused when they are attached, others only when they are charged.
  if (method.refusedOnAttach) throw declined()
  method.customer = customer
  world.emit('payment_method.attached', methodWire(world, method))
  return method
}

export const detachMethod = (world: World, method: MethodState): MethodState => {
  const owner = method.customer === null ? undefined : world.store.customer.get(method.customer)
  if (owner?.defaultMethod === method.id) owner.defaultMethod = null
  changingTo(world, 'payment_method.detached', method, () => void (method.customer = null))
  return method
}

export const updateMethod = (world: World, method: MethodState, metadata: Metadata): MethodState => {
  changingTo(world, 'payment_method.updated', method, () => void Object.assign(method.metadata, metadata))
  return method
}

const changingTo = (world: World, type: string, method: MethodState, change: () => void): void =>
  changing(world, type, () => methodWire(world, method), change)

export type PaymentChoice = { outcome: PaymentOutcome | 'no_method'; method: string | null }

/** What an automatic payment would come to now: the method named, or that of the subscription, or of the customer. */
export const chooseMethod = (
  world: World,
  customerId: string,
  sub: SubState | undefined,
  named?: string,
): PaymentChoice => {
  const customer = need(world, 'customer', customerId, 'customer')
  const id = named ?? sub?.defaultMethod ?? customer.defaultMethod
  if (customer.failPayments) return { outcome: 'declines', method: id }
  const method = id === null ? undefined : world.store.method.get(id)
  if (method !== undefined) return { outcome: method.outcome, method: method.id }
  return { outcome: customer.unseenCard ? 'succeeds' : 'no_method', method: null }
}

const outcomeOfCard = (token: string): PaymentOutcome => {
  if (/chargeCustomerFail|chargeDeclined/i.test(token)) return 'declines'
  if (/authenticationRequired|threeDSecure/i.test(token)) return 'needs_action'
  return /createDisputeInquiry/i.test(token) ? 'inquiry' : 'succeeds'
}

const outcomeOfIban = (iban: string): PaymentOutcome =>
  /^(AT86|IT60)/.test(iban) ? 'processing_fails' : 'processing_succeeds'
