// The bad post of the demo: it may do anything to a delivery but forget it.
import { expect, test } from 'vitest'
import type { StripeEvent } from '../stripe-sim/sim.ts'
import { openPost, type Posting } from './post.ts'

const event = (number: number, type = 'invoice.paid') =>
  ({
    id: `evt_${number}`,
    type,
    data: { object: { customer: `cus_${number % 3}` } },
  }) as unknown as StripeEvent
const EVENTS = Array.from({ length: 200 }, (_, index) => event(index))

const allOf = (seed: number): Posting[] => {
  const post = openPost(seed)
  return Array.from({ length: 20 }, (_, day) =>
    post.deliver({ day, events: EVENTS.slice(day * 10, day * 10 + 10), backwards: false, last: day === 19 }),
  ).flat()
}

test('every event arrives in the end, however it came', () => {
  const arrived = allOf(1).filter(({ fate }) => fate === 'arrives')

  expect(new Set(arrived.map(({ event }) => event.id)).size).toBe(EVENTS.length)
})

test.each([
  ['loses', (one: Posting) => one.fate === 'lost'],
  ['redelivers', (one: Posting) => one.trip === 'redelivery' && one.daysLate > 0],
  ['doubles', (one: Posting) => one.copy],
  ['delays', (one: Posting) => one.trip === 'first' && one.daysLate > 0],
  ['shuffles', (one: Posting) => one.overtaken && one.daysLate === 0],
])('it %s some, and not most', (_verb, check) => {
  const count = allOf(1).filter(check).length

  expect(count).toBeGreaterThan(5)
  expect(count).toBeLessThan(100)
})

test('what is lost is redelivered on a later day', () => {
  const postings = allOf(2)

  const lost = postings.filter(({ fate }) => fate === 'lost')
  const again = postings.filter(({ trip, copy }) => trip === 'redelivery' && !copy)
  expect(again.map(({ event }) => event.id).toSorted()).toEqual(lost.map(({ event }) => event.id).toSorted())
})

test('the same seed brings the same, another one does not', () => {
  expect(allOf(3)).toEqual(allOf(3))
  expect(allOf(3)).not.toEqual(allOf(4))
})

test('backwards means that the newest comes first, and all but it are overtaken', () => {
  const events = [event(0), event(3), event(6)]

  const postings = openPost(1).deliver({ day: 1, events, backwards: true, last: false })
  const first = postings.filter(({ copy }) => !copy)
  expect(first.map(({ event, overtaken }) => [event.id, overtaken])).toEqual([
    ['evt_6', false],
    ['evt_3', true],
    ['evt_0', true],
  ])
})

test('what the endpoint is not subscribed to never comes', () => {
  const events = [event(1, 'payment_method.attached')]

  expect(openPost(1).deliver({ day: 1, events, backwards: false, last: true })).toEqual([])
})
