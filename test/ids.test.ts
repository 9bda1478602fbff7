// The one id helper, on every shape that a reference has had since 2012.
import { expect, test } from 'vitest'
import { idOf, isOfOtherKind, isPrintableId } from '../src/ids.ts'

test.each([
  ['a string', 'cus_1', 'cus_1'],
  ['an expanded object', { id: 'cus_1', object: 'customer', email: null }, 'cus_1'],
  ['a deleted object', { id: 'cus_1', object: 'customer', deleted: true }, 'cus_1'],
  ['an id of 2012 without a prefix', 'Gold Plan', 'Gold Plan'],
  ['255 characters', 'x'.repeat(255), 'x'.repeat(255)],
  ['null', null, null],
  ['an absent field', undefined, null],
  ['an empty string', '', null],
  ['an object without id', { object: 'customer' }, null],
  ['an object whose id is an object', { id: { id: 'cus_1' } }, null],
  ['a number', 7, null],
  ['a list', ['cus_1'], null],
  ['256 characters', 'x'.repeat(256), null],
  ['a NUL', 'cus_\u0000', null],
  ['a line break at the end', 'cus_1\n', null],
  ['a blank at the start', ' cus_1', null],
  ['a blank at the end', 'cus_1 ', null],
  ['a letter that is not ASCII', 'cus_é', null],
])('the id of %s', (_, ref, id) => {
  expect(idOf(ref)).toBe(id)
})

test('only a string is a printable id', () => {
  expect(isPrintableId('in_1')).toBe(true)
  expect(isPrintableId({ id: 'in_1' })).toBe(false)
})

test.each([
  ['an id without a known prefix', '8JdYx', 'customer', false],
  ['null', null, 'customer', false],
  ['an id with its own prefix', 'cus_1', 'customer', false],
  ['an expanded object of the kind', { id: 'cus_1', object: 'customer' }, 'customer', false],
  ['an expanded object of another kind', { id: 'x1', object: 'subscription' }, 'customer', true],
  ['a prefix of another kind', 'sub_1', 'customer', true],
  ['a prefix of another kind inside an object', { id: 'sub_1' }, 'customer', true],
  ['a schedule where a subscription is meant', 'sub_sched_1', 'subscription', true],
  ['a schedule where a schedule is meant', 'sub_sched_1', 'subscription_schedule', false],
] as const)('%s is of another kind: case %#', (_, ref, kind, other) => {
  expect(isOfOtherKind(ref, kind)).toBe(other)
})
