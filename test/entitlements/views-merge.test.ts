// What several sources make together, what people set by hand, which plan that is, and what it costs to read.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../harness/database.ts'
import { openRows, type Rows } from '../harness/rows.ts'

let database: TestDatabase
let rows: Rows
beforeAll(async () => {
  database = await createTestDatabase()
  rows = await openRows(database.url)
  await rows.addCatalog()
})
afterAll(async () => {
  await rows.close()
  await database.drop()
})

const at = (time: string, day = 1) => `2030-01-${String(day).padStart(2, '0')}T${time}Z`

/** A tenant with a plan and one feature, read at noon of the first. */
const subscribe = async (tenant: string, times: { from?: string; final?: string; recheck?: string }, readAt: string | null = at('12:00:00')) => {
  await rows.addCustomer({ tenant, readAt })
  await rows.addRow({ tenant, feature: '$plan', value: 'pro', ...times })
  await rows.addRow({ tenant, feature: 'export', value: true, ...times })
}

describe('several sources', () => {
  test('two subscriptions and two accounts: flags or, limits max, quantities sum, texts by rank', async () => {
    await rows.setClock(at('12:00:00'))
    const tenant = 'merged'
    await rows.addCustomer({ tenant, readAt: at('12:00:00') })
    await rows.addCustomer({ tenant, account: 'eu', customer: 'cus_merged', readAt: at('12:00:00') })
    const sources = [
      { item: 'si_1', account: 'default', plan: 'basic', rank: 10, seats: 3, projects: 5, tier: 'low', export: false, final: at('12:00:00', 9) },
      { item: 'si_2', account: 'default', plan: 'pro', rank: 20, seats: 4, projects: 20, tier: 'high', export: true, final: at('12:00:00', 5) },
      { item: 'si_1', account: 'eu', plan: 'basic', rank: 10, seats: 5, projects: 10, tier: 'mid', export: false, final: at('12:00:00', 7) },
    ] as const
    for (const { item, account, plan, rank, final, ...values } of sources) {
      await rows.addRow({ tenant, item, account, plan, rank, final, feature: '$plan', value: plan })
      for (const [feature, value] of Object.entries(values)) {
        await rows.addRow({ tenant, item, account, plan, rank, final, feature, value, state: rank === 10 ? 'grace' : 'trial', from: at('00:00:00', 1) })
      }
    }

    expect(await rows.features(tenant)).toEqual({ export: true, projects: 20, seats: 12, tier: 'high' })
    expect(await rows.plan(tenant)).toMatchObject({ plan: 'pro', rank: 20 })
    expect(await rows.feature(tenant, 'seats')).toMatchObject({ state: 'trial', until_at: new Date(at('12:00:00', 9)), until_kind: 'final', from_at: new Date(at('00:00:00')) })
    expect((await rows.feature(tenant, 'seats'))?.because.map((why) => (why as { itemId: string }).itemId)).toEqual(['si_2', 'si_1', 'si_1'])

    await rows.setClock(at('12:00:00', 5))
    expect(await rows.features(tenant)).toEqual({ export: false, projects: 10, seats: 8, tier: 'low' })
    expect(await rows.plan(tenant)).toMatchObject({ plan: 'basic', rank: 10 })
  })

  test('one open source leaves the end open', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addCustomer({ tenant: 'open', readAt: at('12:00:00') })
    await rows.addRow({ tenant: 'open', feature: 'export', value: true, item: 'si_a', final: at('12:00:00', 5), from: at('00:00:00') })
    await rows.addRow({ tenant: 'open', feature: 'export', value: true, item: 'si_b' })

    expect(await rows.feature('open', 'export')).toMatchObject({ until_at: null, until_kind: null, from_at: null })
  })

  test('a feature that the catalog has dropped is merged by the kind of its values', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addCustomer({ tenant: 'dropped', readAt: at('12:00:00') })
    for (const [item, flag, limit, text, rank] of [['si_x', true, 3, 'a', 20], ['si_y', false, 9, 'b', 10]] as const) {
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
    await subscribe('by_hand', {})
    await rows.addRow({ tenant: 'by_hand', feature: 'seats', value: 3 })
    await rows.addOverride({ tenant: 'by_hand', feature: 'seats', effect: 'allow', value: 50, until: at('12:00:00', 3) })
    await rows.addOverride({ tenant: 'by_hand', feature: 'extra', effect: 'allow', value: true })
    await rows.addOverride({ tenant: 'by_hand', feature: 'export', effect: 'allow', value: true })
    await rows.addOverride({ tenant: 'by_hand', feature: 'export', effect: 'deny', until: at('12:00:00', 2) })

    await rows.setClock(at('11:59:55', 2))
    expect(await rows.features('by_hand')).toEqual({ extra: true, seats: 50 })
    expect(await rows.feature('by_hand', 'seats')).toMatchObject({ source: 'manual', until_at: new Date(at('12:00:00', 3)) })
    await rows.setClock(at('12:00:00', 2))
    expect(await rows.features('by_hand')).toEqual({ export: true, extra: true, seats: 50 })
    await rows.setClock(at('12:00:00', 3))
    expect(await rows.feature('by_hand', 'seats')).toMatchObject({ value: 3, source: 'stripe' })
  })

  test('what begins later or was revoked has no effect', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addTenant('not_yet')
    await rows.addOverride({ tenant: 'not_yet', feature: 'a', effect: 'allow', value: true, from: at('12:00:00', 2) })
    await rows.addOverride({ tenant: 'not_yet', feature: 'b', effect: 'allow', value: true })
    await rows.query("update goodstanding.entitlement_overrides set revoked_at = goodstanding.clock() where tenant_id = 'not_yet' and feature = 'b'")

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

describe('plans', () => {
  test('never read is unknown, read and nothing there is none; both have the default plan', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addTenant('stranger')
    await rows.addCustomer({ tenant: 'linked', readAt: null })
    await rows.addCustomer({ tenant: 'empty', readAt: at('12:00:00') })

    expect(await rows.plan('stranger')).toMatchObject({ plan: 'free', active: false, state: 'unknown', rank: 0 })
    expect(await rows.plan('linked')).toMatchObject({ plan: 'free', state: 'unknown' })
    expect(await rows.plan('empty')).toMatchObject({ plan: 'free', state: 'none' })
    expect(await rows.feature('empty', 'projects')).toMatchObject({ value: 1, source: 'default', until_at: null })
  })

  test.each([
    [['ended', 'active', 'suspended'], 'active'],
    [['trial', 'grace'], 'trial'],
    [['grace', 'suspended'], 'grace'],
    [['pending', 'suspended', 'ended'], 'suspended'],
    [['ended', 'pending'], 'pending'],
    [['ended'], 'ended'],
  ])('of the states %j the tenant has %s', async (states, expected) => {
    await rows.setClock(at('12:00:00'))
    const tenant = `states_${states.join('_')}`
    await rows.addCustomer({ tenant, readAt: at('12:00:00') })
    for (const [index, state] of states.entries()) {
      await rows.addRow({ tenant, feature: '$plan', value: 'pro', state, item: `si_${tenant}_${index}` })
    }

    expect(await rows.plan(tenant)).toMatchObject({ state: expected, active: ['active', 'trial', 'grace'].includes(expected) })
  })

  test('a suspended higher plan does not name the plan', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addCustomer({ tenant: 'two_plans', readAt: at('12:00:00') })
    await rows.addRow({ tenant: 'two_plans', feature: '$plan', value: 'pro', plan: 'pro', rank: 20, state: 'suspended', item: 'si_tp1' })
    await rows.addRow({ tenant: 'two_plans', feature: '$plan', value: 'basic', plan: 'basic', rank: 10, item: 'si_tp2' })

    expect(await rows.plan('two_plans')).toMatchObject({ plan: 'basic', rank: 10, active: true, state: 'active' })
    expect(await rows.features('two_plans')).toEqual({})
  })

  test('the catalog that was activated last names the default plan', async () => {
    await rows.addTenant('default_plan')
    await rows.query(`insert into goodstanding.catalogs (catalog_hash, body, activated_at) values ('two', '{"default": "starter", "plans": {"starter": {"rank": 3}}}', '2021-01-01')`)
    expect(await rows.plan('default_plan')).toMatchObject({ plan: 'starter', rank: 3 })
    await rows.query("delete from goodstanding.catalogs where catalog_hash = 'two'")
    expect(await rows.plan('default_plan')).toMatchObject({ plan: 'free', rank: 0 })
  })
})

describe('among 10,000 tenants', () => {
  beforeAll(async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addAccount('default')
    await rows.query("insert into goodstanding.tenants (tenant_id) select 'many_' || i from generate_series(1, 10000) i")
    await rows.query(`
      insert into goodstanding.customers (account, customer_id, tenant_id, linked_by, read_at)
      select 'default', 'cus_many_' || i, 'many_' || i, 'api', goodstanding.clock() from generate_series(1, 10000) i`)
    await rows.query(`
      insert into goodstanding.entitlements
        (account, customer_id, tenant_id, subscription_id, item_id, feature, value, plan, rank, state, granted, because)
      select 'default', 'cus_many_' || i, 'many_' || i, 'sub_many_' || i, 'si_many_' || i, feature, value::jsonb, 'pro', 20, 'active', true, '{}'
      from generate_series(1, 10000) i, (values ('$plan', '"pro"'), ('export', 'true'), ('seats', '3')) given (feature, value)`)
    await rows.query(`
      insert into goodstanding.entitlement_overrides (tenant_id, feature, effect, value, permanent, operator, reason)
      select 'many_' || i, 'extra', 'allow', 'true', true, 'ann', 'spec' from generate_series(1, 10000) i`)
    await rows.query('analyze')
  })

  test.each([
    ['effective_entitlements'],
    ['effective_plans'],
    ['entitlement_sources'],
  ])('one tenant of %s is read through indexes', async (view) => {
    const plan = await rows.query<{ 'QUERY PLAN': string }>(`explain (analyze, costs off, timing off) select * from goodstanding.${view} where tenant_id = 'many_77'`)
    const text = plan.map((line) => line['QUERY PLAN']).join('\n')

    expect(text).not.toMatch(/Seq Scan on (tenants|customers|entitlements|entitlement_overrides)/)
    expect(text).toMatch(/entitlements_tenant/)
    for (const [, read] of text.matchAll(/rows=(\d+)/g)) expect(Number(read)).toBeLessThan(20)
  })

  test('the last transition of one tenant touches few pages', async () => {
    const [line] = await rows.query<{ 'QUERY PLAN': { 'Plan': { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[] }>(
      `explain (analyze, buffers, format json) select goodstanding.last_transition(tenant) from (values ('many_1'), ('many_2'), ('many_3'), ('many_4'), ('many_5'), ('many_6'), ('many_7'), ('many_8'), ('many_9'), ('many_10')) asked (tenant)`,
    )
    const plan = line?.['QUERY PLAN'][0]?.Plan
    expect((plan?.['Shared Hit Blocks'] ?? 1e9) + (plan?.['Shared Read Blocks'] ?? 1e9)).toBeLessThan(2_500)
  })
})
