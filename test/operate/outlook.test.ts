// What somebody would gain and lose, as a table.
import { describe, expect, test } from 'vitest'
import type { Entitlement } from '../../src/entitlements/model.ts'
import { outlookOf, rowsToKeep } from '../../src/entitlements/outlook.ts'

const row = (
  itemId: string,
  feature: string,
  value: Entitlement['value'],
  also: Partial<Entitlement> = {},
): Entitlement => ({
  feature,
  value,
  subscriptionId: 'sub_1',
  itemId,
  plan: 'pro',
  rank: 20,
  state: 'active',
  granted: true,
  from: 0,
  finalAt: null,
  recheckAt: null,
  because: { rule: 'active', status: 'active', subscriptionId: 'sub_1', itemId, priceId: 'price_pro' },
  ...also,
})
const ended = (itemId: string, feature: string, value: Entitlement['value']) =>
  row(itemId, feature, value, { granted: false, state: 'ended' })
const told = (current: Entitlement[], desired: Entitlement[], held: string[] = []) => {
  const { gains, losses, renamed } = outlookOf(current, desired, held)
  const names = (shifts: { feature: string }[]) => shifts.map(({ feature }) => feature)
  return { gains: names(gains), losses: names(losses), renamed: names(renamed) }
}
const SAME = { gains: [], losses: [], renamed: [] }

describe('an outlook', () => {
  test.each<[string, Entitlement[], Entitlement[], Partial<ReturnType<typeof told>>]>([
    ['nothing from nothing', [], [], {}],
    ['the same rows', [row('si_1', 'sso', true)], [row('si_1', 'sso', true)], {}],
    ['a later end', [row('si_1', 'sso', true)], [row('si_1', 'sso', true, { recheckAt: 5 })], {}],
    ['a first feature', [], [row('si_1', 'sso', true)], { gains: ['sso'] }],
    ['a feature that is gone', [row('si_1', 'sso', true)], [], { losses: ['sso'] }],
    [
      'a feature that has ended',
      [row('si_1', 'sso', true)],
      [ended('si_1', 'sso', true)],
      { losses: ['sso'] },
    ],
    [
      'one that had ended comes back',
      [ended('si_1', 'sso', true)],
      [row('si_1', 'sso', true)],
      { gains: ['sso'] },
    ],
    ['another item gives it', [row('si_1', 'sso', true)], [row('si_2', 'sso', true)], {}],
    [
      'one of two stays',
      [row('si_1', 'sso', true), row('si_2', 'sso', true)],
      [row('si_2', 'sso', true)],
      {},
    ],
    ['more seats', [row('si_1', 'seats', 2)], [row('si_1', 'seats', 3)], { gains: ['seats'] }],
    ['fewer seats', [row('si_1', 'seats', 3)], [row('si_1', 'seats', 2)], { losses: ['seats'] }],
    ['seats add up', [row('si_1', 'seats', 3)], [row('si_1', 'seats', 1), row('si_2', 'seats', 2)], {}],
    ['a flag that is false gives nothing', [row('si_1', 'sso', false)], [], {}],
    ['a flag falls', [row('si_1', 'sso', true)], [row('si_1', 'sso', false)], { losses: ['sso'] }],
    [
      'a lower plan',
      [row('si_1', '$plan', 'pro')],
      [row('si_1', '$plan', 'basic', { rank: 10 })],
      { losses: ['$plan'] },
    ],
    [
      'a higher plan',
      [row('si_1', '$plan', 'basic', { rank: 10 })],
      [row('si_1', '$plan', 'pro')],
      { gains: ['$plan'] },
    ],
    [
      'another plan of the same features',
      [row('si_1', '$plan', 'pro')],
      [row('si_1', '$plan', 'max')],
      { renamed: ['$plan'] },
    ],
    [
      'of two texts the higher rank speaks',
      [row('si_1', '$plan', 'pro'), row('si_2', '$plan', 'basic', { rank: 10 })],
      [row('si_1', '$plan', 'pro')],
      {},
    ],
  ])('%s', (_, current, desired, expected) => {
    expect(told(current, desired)).toEqual({ ...SAME, ...expected })
  })

  test('what is held counts as it is, whatever is desired of it', () => {
    const current = [row('si_1', 'sso', true), row('si_2', 'export', true)]

    expect(told(current, [], ['si_1'])).toEqual({ ...SAME, losses: ['export'] })
    expect(told(current, [], ['sub_1'])).toEqual(SAME)
  })
})

test('the rows that must stay so that nothing is lost, and no others', () => {
  const lost = row('si_1', 'sso', true)
  const current = [lost, row('si_2', 'export', true), ended('si_3', 'sso', true), row('si_1', 'seats', 2)]

  expect(rowsToKeep(current, [row('si_2', 'export', true), row('si_1', 'seats', 5)], [])).toEqual([lost])
  expect(rowsToKeep(current, current, [])).toEqual([])
})
