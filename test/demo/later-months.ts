// The demo's third to sixth month: pauses, refunds, second thoughts, a customer who is deleted.
import { idsOf, returnWith, type Day, type Stage } from './stories.ts'

export const LATER_MONTHS: readonly Day[] = [
  { day: 66, title: 'jade pauses the collection of payments', act: pause },
  { day: 72, title: 'bolt is refunded, fern disputes a charge: access stays', act: moneyBack },
  {
    day: 80,
    title: 'gale returns, and cancels within the hour; the news arrive backwards',
    act: anHour,
    backwards: true,
  },
  { day: 91, title: 'renewals; the invoice of jade is voided, so what it paid for ends', act: () => {} },
  { day: 101, title: 'hush downgrades, acme takes 25 seats', act: sizes },
  {
    day: 110,
    title: 'fern cancels and thinks again; the news arrive backwards',
    act: secondThought,
    backwards: true,
  },
  { day: 119, title: 'renewals; jade resumes', act: resume },
  { day: 133, title: 'crux moves to pro by the year', act: byTheYear },
  { day: 142, title: 'the card of iris expires', act: irisFails },
  { day: 146, title: 'luna is deleted in the Dashboard', act: deletion },
  { day: 150, title: 'renewals; iris cannot pay', act: () => {} },
  { day: 166, title: 'iris is given up: canceled', act: irisEnds },
  { day: 172, title: 'echo comes back with 6 seats', act: echoReturns },
  { day: 180, title: 'renewals; the last of the post', act: () => {} },
]

/** The demo ends here. */
export const LAST_DAY = 184

function pause(stage: Stage) {
  stage.shop.updateSubscription(idsOf(stage, 'jade').subscription, { pause: { behavior: 'void' } })
}

const lastPaidOf = (stage: Stage, tenant: string): string => {
  const invoice = stage.shop
    .invoicesOf(idsOf(stage, tenant).customer)
    .findLast(({ status }) => status === 'paid')
  if (invoice === undefined) throw new Error(`${tenant} has paid nothing yet`)
  return invoice.id ?? ''
}

function moneyBack(stage: Stage) {
  stage.shop.refund(lastPaidOf(stage, 'bolt'))
  stage.shop.dispute(lastPaidOf(stage, 'fern'))
}

function anHour(stage: Stage) {
  returnWith(stage, 'gale', 'price_pro', 5)
  const { subscription } = idsOf(stage, 'gale')
  stage.shop.updateSubscription(subscription, { quantity: 7 })
  stage.shop.cancel(subscription)
}

function sizes(stage: Stage) {
  stage.shop.updateSubscription(idsOf(stage, 'hush').subscription, {
    items: [{ price: 'price_basic', quantity: 1 }],
  })
  stage.shop.updateSubscription(idsOf(stage, 'acme').subscription, { quantity: 25 })
}

function secondThought(stage: Stage) {
  const { subscription } = idsOf(stage, 'fern')
  stage.shop.updateSubscription(subscription, { cancelAtPeriodEnd: true })
  stage.shop.updateSubscription(subscription, { cancelAtPeriodEnd: false })
}

function resume(stage: Stage) {
  stage.shop.updateSubscription(idsOf(stage, 'jade').subscription, { pause: null })
}

function byTheYear(stage: Stage) {
  stage.shop.updateSubscription(idsOf(stage, 'crux').subscription, {
    items: [{ price: 'price_pro_yearly', quantity: 8 }],
  })
}

function irisFails(stage: Stage) {
  stage.shop.failPayments(idsOf(stage, 'iris').customer, true)
}

function deletion(stage: Stage) {
  stage.shop.deleteCustomer(idsOf(stage, 'luna').customer)
}

function irisEnds(stage: Stage) {
  stage.shop.exhaustRetries(idsOf(stage, 'iris').subscription, 'canceled')
}

function echoReturns(stage: Stage) {
  returnWith(stage, 'echo', 'price_pro', 6)
}
