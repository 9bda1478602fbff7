// Charges, and what takes their money back: refunds and disputes.

import { invalid } from '../errors.ts'
import type { ChargeState, DisputeState, IntentState, RefundState } from '../records-payments.ts'
import type { Metadata } from '../records.ts'
import { put } from '../state.ts'
import { disputeWire, refundWire } from '../wire/money-back.ts'
import { chargeWire } from '../wire/charge.ts'
import { changing, need } from '../world.ts'
import type { World } from '../world.ts'

export const recordCharge = (
  world: World,
  intent: IntentState,
  how: { failed?: boolean; captured?: boolean; method: string | null },
): ChargeState => {
  const charge = put(world.store, 'charge', {
    id: world.id('ch'),
    created: world.now(intent.customer ?? undefined),
    customer: intent.customer,
    amount: intent.amount,
    currency: intent.currency,
    refunded: 0,
    disputed: false,
    failed: how.failed ?? false,
    captured: how.captured ?? how.failed !== true,
    method: how.method,
    invoice: intent.invoice,
    paymentIntent: intent.id,
  })
  intent.charge = charge.id
  world.emit(charge.failed ? 'charge.failed' : 'charge.succeeded', chargeWire(world, charge))
  return charge
}

export const refundCharge = (
  world: World,
  charge: ChargeState,
  amount = charge.amount - charge.refunded,
  metadata: Metadata = {},
): RefundState => {
  if (amount <= 0 || charge.refunded + amount > charge.amount) {
    throw invalid(
      'Refund amount is greater than unrefunded amount on charge',
      'amount',
      'charge_already_refunded',
    )
  }
  const refund = put(world.store, 'refund', {
    id: world.id('re'),
    created: world.now(charge.customer ?? undefined),
    customer: charge.customer,
    amount,
    currency: charge.currency,
    charge: charge.id,
    paymentIntent: charge.paymentIntent,
    metadata: { ...metadata },
  })
  const before = { amount_refunded: charge.refunded, refunded: false }
  charge.refunded += amount
  world.emit('refund.created', refundWire(refund))
  const whole = charge.refunded === charge.amount
  world.emit('charge.refunded', chargeWire(world, charge), {
    previousAttributes: whole ? before : { amount_refunded: before.amount_refunded },
  })
  return refund
}

export const updateRefund = (world: World, id: string, metadata: Metadata): RefundState => {
  const refund = need(world, 'refund', id)
  const change = () => void Object.assign(refund.metadata, metadata)
  changing(world, 'refund.updated', () => refundWire(refund), change)
  world.emit('charge.refund.updated', refundWire(refund))
  return refund
}

export const openDispute = (
  world: World,
  charge: ChargeState,
  status: DisputeState['status'] = 'needs_response',
): DisputeState => {
  charge.disputed = true
  const dispute = put(world.store, 'dispute', {
    id: world.id('du'),
    created: world.now(charge.customer ?? undefined),
    customer: charge.customer,
    amount: charge.amount,
    currency: charge.currency,
    charge: charge.id,
    paymentIntent: charge.paymentIntent,
    metadata: {},
    status,
  })
  world.emit('charge.dispute.created', disputeWire(world, dispute))
  return dispute
}

export const updateDispute = (world: World, id: string, metadata: Metadata): DisputeState => {
  const dispute = need(world, 'dispute', id)
  const change = () => void Object.assign(dispute.metadata, metadata)
  changing(world, 'charge.dispute.updated', () => disputeWire(world, dispute), change)
  return dispute
}

/** To close a dispute is to give it up; an inquiry just ends. */
export const closeDispute = (world: World, id: string): DisputeState => {
  const dispute = need(world, 'dispute', id)
  dispute.status = dispute.status === 'warning_needs_response' ? 'warning_closed' : 'lost'
  world.emit('charge.dispute.closed', disputeWire(world, dispute))
  return dispute
}
