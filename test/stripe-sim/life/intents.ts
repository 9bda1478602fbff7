// Payment intents: one attempt after another to get an amount, by card at once or by a delayed method.

import { declined, invalid } from '../errors.ts'
import type { IntentState, PaymentOutcome } from '../records-payments.ts'
import type { Metadata } from '../records.ts'
import { put } from '../state.ts'
import { chargeWire } from '../wire/charge.ts'
import { intentWire } from '../wire/payments.ts'
import { changing, need } from '../world.ts'
import type { World } from '../world.ts'
import { openDispute, recordCharge } from './charges.ts'
import { methodNamed } from './methods.ts'

export type IntentInput = {
  customer?: string | null
  amount: number
  currency: string
  method?: string
  methodTypes?: string[]
  capture?: IntentState['capture']
  description?: string
  invoice?: string
  metadata?: Metadata
}

export const createIntent = (world: World, input: IntentInput): IntentState => {
  const intent = put(world.store, 'intent', {
    id: world.id('pi'),
    created: world.now(input.customer ?? undefined),
    customer: input.customer ?? null,
    amount: input.amount,
    received: 0,
    currency: input.currency,
    status: input.method === undefined ? 'requires_payment_method' : 'requires_confirmation',
    capture: input.capture ?? 'automatic',
    method: input.method ?? null,
    methodTypes: input.methodTypes ?? ['card'],
    charge: null,
    failed: false,
    canceledAt: null,
    cancelReason: null,
    description: input.description ?? null,
    invoice: input.invoice ?? null,
    metadata: { ...input.metadata },
  })
  world.emit('payment_intent.created', intentWire(world, intent))
  return intent
}

/** One attempt. True if the money is there (or, with manual capture, held). */
export const attemptIntent = (
  world: World,
  intent: IntentState,
  outcome: PaymentOutcome,
  method: string | null,
): boolean => {
  intent.failed = false
  switch (outcome) {
    case 'succeeds':
    case 'inquiry':
      return succeed(world, intent, outcome, method)
    case 'declines':
      return fail(world, intent, method)
    case 'needs_action':
      return become(world, intent, 'requires_action', method)
    case 'processing_succeeds':
    case 'processing_fails':
      return become(world, intent, 'processing', method)
  }
}

/** What the API's `confirm` does: a card that fails is an error of the call, with the intent as it is then. */
export const confirmIntent = (world: World, intent: IntentState): void => {
  const method = intent.method === null ? null : methodNamed(world, intent.method)
  if (method === null)
    throw invalid('You cannot confirm this PaymentIntent because it has no payment method.')
  intent.method = method.id
  if (!attemptIntent(world, intent, method.outcome, method.id) && intent.failed) throw declined()
}

/** A delayed payment arrives, or fails. */
export const settleProcessing = (world: World, intent: IntentState): boolean =>
  attemptIntent(world, intent, delayedOutcome(world, intent), intent.method)

const delayedOutcome = (world: World, intent: IntentState): PaymentOutcome => {
  const method = intent.method === null ? undefined : world.store.method.get(intent.method)
  return method?.outcome === 'processing_fails' ? 'declines' : 'succeeds'
}

export const captureIntent = (world: World, id: string): IntentState => {
  const intent = need(world, 'intent', id)
  if (intent.status !== 'requires_capture') throw wrongStatus(intent)
  const charge = need(world, 'charge', intent.charge ?? '')
  changing(
    world,
    'charge.captured',
    () => chargeWire(world, charge),
    () => void (charge.captured = true),
  )
  intent.status = 'succeeded'
  intent.received = intent.amount
  world.emit('payment_intent.succeeded', intentWire(world, intent))
  return intent
}

export const cancelIntent = (world: World, intent: IntentState, reason: string | null): IntentState => {
  if (intent.status === 'succeeded' || intent.status === 'canceled') throw wrongStatus(intent)
  intent.status = 'canceled'
  intent.canceledAt = world.now(intent.customer ?? undefined)
  intent.cancelReason = reason
  world.emit('payment_intent.canceled', intentWire(world, intent))
  return intent
}

const succeed = (
  world: World,
  intent: IntentState,
  outcome: PaymentOutcome,
  method: string | null,
): boolean => {
  const captured = intent.capture === 'automatic'
  intent.method = method
  const charge = recordCharge(world, intent, { captured, method })
  if (!captured) {
    become(world, intent, 'requires_capture', method)
    return true
  }
  intent.status = 'succeeded'
  intent.received = intent.amount
  world.emit('payment_intent.succeeded', intentWire(world, intent))
  if (outcome === 'inquiry') openDispute(world, charge, 'warning_needs_response')
  return true
}

const fail = (world: World, intent: IntentState, method: string | null): boolean => {
  recordCharge(world, intent, { failed: true, method })
  intent.status = 'requires_payment_method'
  intent.method = null
  intent.failed = true
  world.emit('payment_intent.payment_failed', intentWire(world, intent))
  return false
}

const EVENTS = {
  requires_action: 'payment_intent.requires_action',
  processing: 'payment_intent.processing',
  requires_capture: 'payment_intent.amount_capturable_updated',
} as const

const become = (
  world: World,
  intent: IntentState,
  status: keyof typeof EVENTS,
  method: string | null,
): boolean => {
  intent.status = status
  intent.method = method
  world.emit(EVENTS[status], intentWire(world, intent))
  return false
}

const wrongStatus = (intent: IntentState) =>
  invalid(
    `This PaymentIntent's status is ${intent.status}: that cannot be done with it.`,
    undefined,
    'payment_intent_unexpected_state',
  )
