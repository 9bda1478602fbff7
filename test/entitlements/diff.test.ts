// What must be written, and that a second run writes nothing.
import { expect, test } from 'vitest'
import { diff } from '../../src/entitlements/diff.ts'
import type { Entitlement } from '../../src/entitlements/model.ts'
import { inDays } from './builders.ts'

const aRow = (given: Partial<Entitlement> = {}): Entitlement => ({
  feature: 'export',
  value: true,
  subscriptionId: 'sub_A',
  itemId: 'si_A',
  plan: 'pro',
  rank: 20,
  state: 'active',
  granted: true,
  from: inDays(-10),
  finalAt: null,
  recheckAt: inDays(20),
  because: {
    rule: 'active',
    status: 'active',
    subscriptionId: 'sub_A',
    itemId: 'si_A',
    priceId: 'price_pro',
  },
  ...given,
})

const NOTHING = { put: [], remove: [], changes: [] }

test('equal rows produce nothing', () => {
  expect(diff({ current: [aRow()], desired: [aRow()], held: [] })).toEqual(NOTHING)
})

test('the order of keys is no difference', () => {
  const { because, ...row } = aRow()
  const turned = Object.fromEntries(Object.entries(because).toReversed()) as Entitlement['because']

  expect(diff({ current: [{ because: turned, ...row }], desired: [aRow()], held: [] })).toEqual(NOTHING)
})

test('a further column of a stored row is no difference', () => {
  const stored = { ...aRow(), updatedAt: 7 }

  expect(diff({ current: [stored], desired: [aRow()], held: [] })).toEqual(NOTHING)
})

test('a new row is put and told as added', () => {
  const row = aRow()

  expect(diff({ current: [], desired: [row], held: [] })).toEqual({
    put: [row],
    remove: [],
    changes: [{ change: 'added', itemId: 'si_A', feature: 'export', before: null, after: row }],
  })
})

test('a row that is no longer desired is removed', () => {
  const row = aRow()

  expect(diff({ current: [row], desired: [], held: [] })).toEqual({
    put: [],
    remove: [{ itemId: 'si_A', feature: 'export' }],
    changes: [{ change: 'removed', itemId: 'si_A', feature: 'export', before: row, after: null }],
  })
})

test.each<[keyof Entitlement, Partial<Entitlement>]>([
  ['value', { value: false }],
  ['state', { state: 'grace' }],
  ['granted', { granted: false }],
  ['from', { from: null }],
  ['finalAt', { finalAt: inDays(1) }],
  ['recheckAt', { recheckAt: inDays(1) }],
  ['plan', { plan: 'basic' }],
  ['rank', { rank: 21 }],
  ['subscriptionId', { subscriptionId: 'sub_B' }],
  ['because', { because: { ...aRow().because, rule: 'trial' } }],
])('a row whose %s differs is overwritten', (_, changed) => {
  const before = aRow()
  const after = aRow(changed)

  const { put, remove, changes } = diff({ current: [before], desired: [after], held: [] })

  expect(put).toEqual([after])
  expect(remove).toEqual([])
  expect(changes).toEqual([{ change: 'changed', itemId: 'si_A', feature: 'export', before, after }])
})

test.each([
  ['gained', {}, { resumesAt: null }],
  ['lost', { resumesAt: null }, {}],
  ['replaced', { resumesAt: null }, { invoiceId: null }],
])('a fact that because has %s is a difference', (_, before, after) => {
  const rowWith = (facts: object) => aRow({ because: { ...aRow().because, ...facts } })

  expect(diff({ current: [rowWith(before)], desired: [rowWith(after)], held: [] }).put).toHaveLength(1)
})

test('a number is not its text, and true is not 1', () => {
  expect(diff({ current: [aRow({ value: 1 })], desired: [aRow({ value: '1' })], held: [] }).put).toHaveLength(
    1,
  )
  expect(
    diff({ current: [aRow({ value: 1 })], desired: [aRow({ value: true })], held: [] }).put,
  ).toHaveLength(1)
})

test.each([
  ['subscription', 'sub_A'],
  ['item', 'si_A'],
])('rows of a held %s stay, others go', (_, held) => {
  const other = aRow({ subscriptionId: 'sub_B', itemId: 'si_B' })

  const { put, remove } = diff({ current: [aRow(), other], desired: [], held: [held] })

  expect(put).toEqual([])
  expect(remove).toEqual([{ itemId: 'si_B', feature: 'export' }])
})

test('what is held is not overwritten either', () => {
  expect(diff({ current: [aRow()], desired: [aRow({ value: false })], held: ['sub_A'] })).toEqual(NOTHING)
})

test('the same feature of two items is two rows', () => {
  const { put } = diff({ current: [], desired: [aRow(), aRow({ itemId: 'si_B' })], held: [] })

  expect(put.map(({ itemId }) => itemId)).toEqual(['si_A', 'si_B'])
})

test('applying a diff leaves nothing to do', () => {
  const current = [aRow(), aRow({ feature: 'sso' })]
  const desired = [aRow({ value: false }), aRow({ feature: 'seats', value: 3 })]

  const { put, remove } = diff({ current, desired, held: [] })
  const gone = new Set([...put, ...remove].map(({ feature }) => feature))
  const after = [...current.filter(({ feature }) => !gone.has(feature)), ...put]

  expect(diff({ current: after, desired, held: [] })).toEqual(NOTHING)
})
