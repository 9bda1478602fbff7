// What time does to subscriptions: trials end, periods renew, payments are retried, scheduled ends come. Each
// step is also a verb of its own; `tick` applies all that is due, in order of its time, with that time in the
// events.

import { announceInvoice, collectInvoice, draftInvoice, finalizeInvoice, followInvoice } from './invoices.ts'
import type { Payment } from './invoices.ts'
import { expireSessions } from './checkout.ts'
import { periodAfter } from './items.ts'
import { chooseMethod } from './methods.ts'
import { dueSchedule } from './schedules.ts'
import { cancelSubscription, changeSub, draftFor, earliestEnd, liveSub } from './subscriptions.ts'
import { TRIAL_WARNING, warnOfTrialEnd } from './trials.ts'
import { invoiceWire } from '../wire/invoice.ts'
import { subscriptionWire } from '../wire/subscription.ts'
import { ownedBy } from '../state.ts'
import type { InvoiceState, ItemState, ScheduleState, SubState } from '../records.ts'
import type { World } from '../world.ts'

const HOUR = 3_600
const INCOMPLETE_LIVES = 23 * HOUR
// A tick that has more to do than this has found a loop.
const MAX_STEPS = 20_000

export const renew = (world: World, id: string, payment?: Payment): SubState => {
  const sub = liveSub(world, id)
  if (sub.status === 'trialing') return endTrial(world, id, payment === undefined ? {} : { payment })
  const due = earliestEnd(sub)
  const items = sub.items.filter((item) => item.periodEnd === due)
  const invoice = changeSub(world, sub, () => {
    for (const item of items) nextPeriod(world, item, item.periodEnd)
    return draftInvoice(world, draftFor(world, sub, items, 'subscription_cycle'))
  })
  collect(world, sub, invoice, payment)
  return sub
}

/** What happens to one without a payment method was said when the trial began. */
export const endTrial = (world: World, id: string, how: { payment?: Payment } | 'pause' = {}): SubState => {
  const sub = liveSub(world, id)
  const now = world.now(sub.customer)
  const penniless =
    how !== 'pause' &&
    how.payment === undefined &&
    chooseMethod(world, sub.customer, sub).outcome === 'no_method'
  if (penniless && sub.trialEndBehavior === 'cancel') return cancelSubscription(world, id)
  if (how === 'pause' || (penniless && sub.trialEndBehavior === 'pause')) {
    changeSub(world, sub, () => {
      sub.status = 'paused'
      sub.trialEnd = now
    })
    world.emit('customer.subscription.paused', subscriptionWire(world, sub))
    return sub
  }
  const invoice = changeSub(world, sub, () => {
    sub.status = 'active'
    // Without a trial `trial_end=now` just begins a period: as recorded, there is no trial afterwards either.
    if (sub.trialStart !== null) sub.trialEnd = now
    sub.anchor = now
    for (const item of sub.items) nextPeriod(world, item, now)
    return draftInvoice(world, draftFor(world, sub, sub.items, 'subscription_cycle'))
  })
  collect(world, sub, invoice, how.payment)
  return sub
}

/** Out of status `paused`: a new period begins now and is paid. */
export const resumeSubscription = (world: World, id: string): SubState => {
  const sub = liveSub(world, id)
  const now = world.now(sub.customer)
  const invoice = changeSub(world, sub, () => {
    sub.status = 'active'
    sub.anchor = now
    for (const item of sub.items) nextPeriod(world, item, now)
    return draftInvoice(world, draftFor(world, sub, sub.items, 'subscription_cycle'))
  })
  world.emit('customer.subscription.resumed', subscriptionWire(world, sub))
  collect(world, sub, invoice, 'paid')
  return sub
}

export const exhaustRetries = (world: World, id: string, to: 'unpaid' | 'canceled'): SubState => {
  const sub = liveSub(world, id)
  for (const invoice of openInvoices(world, sub)) invoice.nextAttempt = null
  if (to === 'canceled') return cancelSubscription(world, id, 'payment_failed')
  changeSub(world, sub, () => void (sub.status = 'unpaid'))
  return sub
}

export const expireIncomplete = (world: World, id: string): SubState => {
  const sub = liveSub(world, id)
  for (const invoice of openInvoices(world, sub)) {
    invoice.status = 'void'
    invoice.voidedAt = world.now(sub.customer)
    world.emit('invoice.voided', invoiceWire(world, invoice))
  }
  changeSub(world, sub, () => {
    sub.status = 'incomplete_expired'
    sub.endedAt = world.now(sub.customer)
  })
  return sub
}

/** Applies all that is due, the earliest first; answers how many steps that were. */
export const tick = (world: World): number => {
  const due = new Map<Clocked, Step>()
  const look = (one: Clocked) => {
    const step = 'phases' in one ? dueSchedule(world, one) : one.endedAt === null ? dueStep(world, one) : null
    if (step !== null && step.at <= world.now(one.customer)) due.set(one, step)
    else due.delete(one)
  }
  // Schedules first: at the same second a phase ends before a period begins.
  for (const schedule of world.store.schedule.values()) look(schedule)
  for (const sub of world.store.subscription.values()) look(sub)
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    let next: [Clocked, Step] | null = null
    for (const entry of due) if (next === null || entry[1].at < next[1].at) next = entry
    if (next === null) return steps + expireSessions(world)
    const [one, step] = next
    world.mutate(one.customer, () => world.at(step.at, step.run))
    look(one)
    // A schedule changes its subscription, and may just have begun it.
    if ('phases' in one)
      for (const sub of world.store.subscription.values()) if (sub.customer === one.customer) look(sub)
  }
  throw new Error(`tick: more than ${MAX_STEPS} steps are due`)
}

type Step = { at: number; run: () => void }
type Clocked = ScheduleState | SubState

const dueStep = (world: World, sub: SubState): Step | null => {
  const steps: Step[] = []
  if (sub.status === 'incomplete') {
    return { at: sub.created + INCOMPLETE_LIVES, run: () => void expireIncomplete(world, sub.id) }
  }
  const end = sub.cancelAt ?? (sub.cancelAtPeriodEnd ? earliestEnd(sub) : null)
  if (end !== null) steps.push({ at: end, run: () => void cancelSubscription(world, sub.id) })
  if (sub.status === 'trialing' && sub.trialEnd !== null) {
    if (!sub.trialWillEndSent) steps.push(trialWarning(world, sub, sub.trialEnd))
    steps.push({ at: sub.trialEnd, run: () => void endTrial(world, sub.id) })
  } else if (sub.status !== 'paused') {
    steps.push({ at: earliestEnd(sub), run: () => void renew(world, sub.id) })
  }
  const resumesAt = sub.pause?.resumesAt ?? null
  if (resumesAt !== null) {
    steps.push({ at: resumesAt, run: () => changeSub(world, sub, () => void (sub.pause = null)) })
  }
  for (const invoice of openInvoices(world, sub)) steps.push(...invoiceSteps(world, sub, invoice))
  // The first of equals wins: a scheduled end comes before a renewal at the same second.
  return steps.reduce<Step | null>((best, step) => (best === null || step.at < best.at ? step : best), null)
}

const trialWarning = (world: World, sub: SubState, trialEnd: number): Step => ({
  at: Math.max(sub.created, trialEnd - TRIAL_WARNING),
  run: () => warnOfTrialEnd(world, sub),
})

const invoiceSteps = (world: World, sub: SubState, invoice: InvoiceState): Step[] => {
  if (invoice.dueDate !== null && !invoice.overdueSent) {
    return [{ at: invoice.dueDate, run: () => becomeOverdue(world, sub, invoice) }]
  }
  if (invoice.nextAttempt === null || sub.pause !== null) return []
  const retry = () => {
    if (collectInvoice(world, invoice) === 'paid') followInvoice(world, invoice)
  }
  return [{ at: invoice.nextAttempt, run: retry }]
}

const becomeOverdue = (world: World, sub: SubState, invoice: InvoiceState): void => {
  invoice.overdueSent = true
  world.emit('invoice.overdue', invoiceWire(world, invoice))
  if (sub.status === 'active') becomePastDue(world, sub)
}

const becomePastDue = (world: World, sub: SubState): void =>
  changeSub(world, sub, () => {
    sub.status = 'past_due'
    sub.pastDueSince ??= world.now(sub.customer)
  })

// A period's invoice is made, finalized and charged, unless collection is paused or the subscription unpaid.
const collect = (world: World, sub: SubState, invoice: InvoiceState, payment?: Payment): void => {
  announceInvoice(world, invoice)
  if (sub.status === 'unpaid' || sub.pause?.behavior === 'keep_as_draft') return
  finalizeInvoice(world, invoice)
  if (sub.pause !== null) return writeOff(world, invoice, sub.pause.behavior === 'void')
  if (sub.collection === 'send_invoice' && invoice.amount > 0) return
  const collected = collectInvoice(world, invoice, payment)
  if (collected === 'failed' && sub.status === 'active') becomePastDue(world, sub)
  if (collected === 'paid') followInvoice(world, invoice)
}

const writeOff = (world: World, invoice: InvoiceState, asVoid: boolean): void => {
  const now = world.now(invoice.customer)
  invoice.status = asVoid ? 'void' : 'uncollectible'
  if (asVoid) invoice.voidedAt = now
  else invoice.uncollectibleAt = now
  world.emit(asVoid ? 'invoice.voided' : 'invoice.marked_uncollectible', invoiceWire(world, invoice))
}

const openInvoices = (world: World, sub: SubState): InvoiceState[] =>
  ownedBy(world.store, sub.customer, 'invoice').filter(
    (invoice) => invoice.subscription === sub.id && invoice.status === 'open',
  )

const nextPeriod = (world: World, item: ItemState, start: number): void => {
  item.periodStart = start
  item.periodEnd = periodAfter(world, item, start)
}
