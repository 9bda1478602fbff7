// Which plan a tenant has and in what state, and what it costs to read one tenant among many.
import { beforeAll, describe, expect, test } from 'vitest'
import type { TestDatabase } from '../harness/database.ts'
import { at, openFileRows, type Rows } from '../harness/rows.ts'

let rows: Rows
let query: TestDatabase['query']
beforeAll(async () => {
  const opened = await openFileRows()
  rows = opened.rows
  query = opened.query
  return opened.close
})

describe('plans', () => {
  test('never read is unknown, read and nothing there is none; both have the default plan', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addTenant('stranger')
    await rows.addCustomer({ tenant: 'linked', readAt: null })
    await rows.addCustomer({ tenant: 'empty', readAt: at('12:00:00') })

    expect(await rows.plan('stranger')).toMatchObject({
      plan: 'free',
      active: false,
      state: 'unknown',
      rank: 0,
    })
    expect(await rows.plan('linked')).toMatchObject({ plan: 'free', state: 'unknown' })
    expect(await rows.plan('empty')).toMatchObject({ plan: 'free', state: 'none' })
    expect(await rows.feature('empty', 'projects')).toMatchObject({
      value: 1,
      source: 'default',
      until_at: null,
    })
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

    expect(await rows.plan(tenant)).toMatchObject({
      state: expected,
      active: ['active', 'trial', 'grace'].includes(expected),
    })
  })

  test('a suspended higher plan does not name the plan', async () => {
    await rows.setClock(at('12:00:00'))
    await rows.addCustomer({ tenant: 'two_plans', readAt: at('12:00:00') })
    await rows.addRow({
      tenant: 'two_plans',
      feature: '$plan',
      value: 'pro',
      plan: 'pro',
      rank: 20,
      state: 'suspended',
      item: 'si_tp1',
    })
    await rows.addRow({
      tenant: 'two_plans',
      feature: '$plan',
      value: 'basic',
      plan: 'basic',
      rank: 10,
      item: 'si_tp2',
    })

    expect(await rows.plan('two_plans')).toMatchObject({
      plan: 'basic',
      rank: 10,
      active: true,
      state: 'active',
    })
    expect(await rows.features('two_plans')).toEqual({})
  })

  test('the catalog that was activated last names the default plan', async () => {
    await rows.addTenant('default_plan')
    await rows.query(
      `insert into goodstanding.catalogs (catalog_hash, body, activated_at) values ('two', '{"default": "starter", "plans": {"starter": {"rank": 3}}}', '2021-01-01')`,
    )
    expect(await rows.plan('default_plan')).toMatchObject({ plan: 'starter', rank: 3 })
    await rows.query("delete from goodstanding.catalogs where catalog_hash = 'two'")
    expect(await rows.plan('default_plan')).toMatchObject({ plan: 'free', rank: 0 })
  })
})

describe('among 10,000 tenants', () => {
  beforeAll(async () => {
    // Not on the connection of `rows`: its cached plans are those of empty tables.
    await rows.setClock(at('12:00:00'))
    await rows.addAccount('default')
    await query(
      "insert into goodstanding.tenants (tenant_id) select 'many_' || i from generate_series(1, 10000) i",
    )
    await query(`
      insert into goodstanding.customers (account, customer_id, tenant_id, linked_by, read_at)
      select 'default', 'cus_many_' || i, 'many_' || i, 'api', goodstanding.clock() from generate_series(1, 10000) i`)
    await query(`
      insert into goodstanding.entitlements
        (account, customer_id, tenant_id, subscription_id, item_id, feature, value, plan, rank, state, granted, because)
      select 'default', 'cus_many_' || i, 'many_' || i, 'sub_many_' || i, 'si_many_' || i, feature, value::jsonb, 'pro', 20, 'active', true, '{}'
      from generate_series(1, 10000) i, (values ('$plan', '"pro"'), ('export', 'true'), ('seats', '3')) given (feature, value)`)
    await query(`
      insert into goodstanding.entitlement_overrides (tenant_id, feature, effect, value, permanent, operator, reason)
      select 'many_' || i, 'extra', 'allow', 'true', true, 'ann', 'spec' from generate_series(1, 10000) i`)
    await query('analyze')
  })

  test.each([['effective_entitlements'], ['effective_plans'], ['entitlement_sources']])(
    'one tenant of %s is read through indexes',
    async (view) => {
      const plan = await rows.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, costs off, timing off) select * from goodstanding.${view} where tenant_id = 'many_77'`,
      )
      const text = plan.map((line) => line['QUERY PLAN']).join('\n')

      expect(text).not.toMatch(/Seq Scan on (tenants|customers|entitlements|entitlement_overrides)/)
      expect(text).toMatch(/entitlements_tenant/)
      for (const [, read] of text.matchAll(/rows=(\d+)/g)) expect(Number(read)).toBeLessThan(20)
    },
  )

  test('the last transition of one tenant touches few pages', async () => {
    const [line] = await rows.query<{
      'QUERY PLAN': { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[]
    }>(
      `explain (analyze, buffers, format json) select goodstanding.last_transition(tenant) from (values ('many_1'), ('many_2'), ('many_3'), ('many_4'), ('many_5'), ('many_6'), ('many_7'), ('many_8'), ('many_9'), ('many_10')) asked (tenant)`,
    )
    const plan = line?.['QUERY PLAN'][0]?.Plan
    expect((plan?.['Shared Hit Blocks'] ?? 1e9) + (plan?.['Shared Read Blocks'] ?? 1e9)).toBeLessThan(2_500)
  })
})
