// What several sources make together, and what people set by hand.
import { beforeAll, describe, expect, test } from 'vitest'
import { at, openFileRows, subscribeIn, type Rows } from '../harness/rows.ts'

let rows: Rows
beforeAll(async () => {
  const opened = await openFileRows()
  rows = opened.rows
  return opened.close
})

describe('several sources', () => {
  test('two subscriptions and two accounts: flags or, limits max, quantities sum, texts by rank', async () => {
    await rows.setClock(at('12:00:00'))
    const tenant = 'merged'
    await rows.addCustomer({ tenant, readAt: at('12:00:00') })
    await rows.addCustomer({ tenant, account: 'eu', customer: 'cus_merged', readAt: at('12:00:00') })
    const sources = [
      {
        item: 'si_1',
        account: 'default',
        plan: 'basic',
        rank: 10,
        seats: 3,
        projects: 5,
        tier: 'low',
        export: false,
        final: at('12:00:00', 9),
      },
      {
        item: 'si_2',
        account: 'default',
        plan: 'pro',
        rank: 20,
        seats: 4,
        projects: 20,
        tier: 'high',
        export: true,
        final: at('12:00:00', 5),
      },
      {
        item: 'si_1',
        account: 'eu',
        plan: 'basic',
        rank: 10,
        seats: 5,
        projects: 10,
        tier: 'mid',
        export: false,
        final: at('12:00:00', 7),
      },
    ] as const
    for (const { item, account, plan, rank, final, ...values } of sources) {
      await rows.addRow({ tenant, item, account, plan, rank, final, feature: '$plan', value: plan })
      for (const [feature, value] of Object.entries(values)) {
        await rows.addRow({
          tenant,
          item,
          account,
          plan,
          rank,
          final,
          feature,
          value,
          state: rank === 10 ? 'grace' : 'trial',
          from: at('00:00:00', 1),
        })
      }
    }

    expect(await rows.features(tenant)).toEqual({ export: true, projects: 20, seats: 12, tier: 'high' })
    expect(await rows.plan(tenant)).toMatchObject({ plan: 'pro', rank: 20 })
    expect(await rows.feature(tenant, 'seats')).toMatchObject({
      state: 'trial',
      until_at: new Date(at('12:00:00', 9)),
      until_kind: 'final',
      from_at: new Date(at('00:00:00')),
    })
    expect(
      (await rows.feature(tenant, 'seats'))?.because.map((why) => (why as { itemId: string }).itemId),
    ).toEqual(['si_2', 'si_1', 'si_1'])

    await rows.setClock(at('12:00:00', 5))
    expect(await rows.features(tenant)).toEqual({ export: false, projects: 10, seats: 8, tier: 'low' })
    expect(await rows.plan(tenant)).toMatchObject({ plan: 'basic', rank: 10 })
  })

  test('one open source leaves the end open', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addCustomer({ tenant: 'open', readAt: at('12:00:00') })
    await rows.addRow({
      tenant: 'open',
      feature: 'export',
      value: true,
      item: 'si_a',
      final: at('12:00:00', 5),
      from: at('00:00:00'),
    })
    await rows.addRow({ tenant: 'open', feature: 'export', value: true, item: 'si_b' })

    expect(await rows.feature('open', 'export')).toMatchObject({
      until_at: null,
      until_kind: null,
      from_at: null,
    })
  })

  test('a feature that the catalog has dropped is merged by the kind of its values', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addCustomer({ tenant: 'dropped', readAt: at('12:00:00') })
    for (const [item, flag, limit, text, rank] of [
      ['si_x', true, 3, 'a', 20],
      ['si_y', false, 9, 'b', 10],
    ] as const) {
      await rows.addRow({ tenant: 'dropped', feature: 'old_flag', value: flag, item, rank })
      await rows.addRow({ tenant: 'dropped', feature: 'old_limit', value: limit, item, rank })
      await rows.addRow({ tenant: 'dropped', feature: 'old_text', value: text, item, rank })
    }
    expect(await rows.features('dropped')).toMatchObject({ old_flag: true, old_limit: 9, old_text: 'a' })
  })
})

describe('by hand', () => {
  test('a denial comes before a grant, a grant before Stripe and the default plan', async () => {
    await rows.setClock(at('12:00:00'))
    await subscribeIn(rows, 'by_hand', {})
    await rows.addRow({ tenant: 'by_hand', feature: 'seats', value: 3 })
    await rows.addOverride({
      tenant: 'by_hand',
      feature: 'seats',
      effect: 'allow',
      value: 50,
      until: at('12:00:00', 3),
    })
    await rows.addOverride({ tenant: 'by_hand', feature: 'extra', effect: 'allow', value: true })
    await rows.addOverride({ tenant: 'by_hand', feature: 'export', effect: 'allow', value: true })
    await rows.addOverride({ tenant: 'by_hand', feature: 'export', effect: 'deny', until: at('12:00:00', 2) })

    await rows.setClock(at('11:59:55', 2))
    expect(await rows.features('by_hand')).toEqual({ extra: true, seats: 50 })
    expect(await rows.feature('by_hand', 'seats')).toMatchObject({
      source: 'manual',
      until_at: new Date(at('12:00:00', 3)),
    })
    await rows.setClock(at('12:00:00', 2))
    expect(await rows.features('by_hand')).toEqual({ export: true, extra: true, seats: 50 })
    await rows.setClock(at('12:00:00', 3))
    expect(await rows.feature('by_hand', 'seats')).toMatchObject({ value: 3, source: 'stripe' })
  })

  test('what begins later or was revoked has no effect', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addTenant('not_yet')
    await rows.addOverride({
      tenant: 'not_yet',
      feature: 'a',
      effect: 'allow',
      value: true,
      from: at('12:00:00', 2),
    })
    await rows.addOverride({ tenant: 'not_yet', feature: 'b', effect: 'allow', value: true })
    await rows.query(
      "update goodstanding.entitlement_overrides set revoked_at = goodstanding.clock() where tenant_id = 'not_yet' and feature = 'b'",
    )

    expect(await rows.features('not_yet')).toEqual({ projects: 1 })
  })

  test('of two grants the one made last counts, and the default plan can be denied', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addTenant('twice')
    await rows.addOverride({ tenant: 'twice', feature: 'seats', effect: 'allow', value: 5 })
    await rows.addOverride({ tenant: 'twice', feature: 'seats', effect: 'allow', value: 2 })
    await rows.addOverride({ tenant: 'twice', feature: 'projects', effect: 'deny' })

    expect(await rows.features('twice')).toEqual({ seats: 2 })
  })
})
