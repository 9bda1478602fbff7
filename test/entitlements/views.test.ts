// Time is applied on read: with no process running at all, a plain SELECT says what a tenant may use at this moment.
import { beforeAll, describe, expect, test } from 'vitest'
import { at, openFileRows, subscribeIn, type Rows } from '../harness/rows.ts'

let rows: Rows
beforeAll(async () => {
  const opened = await openFileRows()
  rows = opened.rows
  return opened.close
})

describe('ends', () => {
  test('access that finally ends at 12:00 is there at 11:59:59 and gone at 12:00', async () => {
    await subscribeIn(rows, 'final', { final: at('12:00:00', 5) })

    await rows.setClock(at('11:59:55', 5))
    expect(await rows.features('final')).toEqual({ export: true })
    expect(await rows.plan('final')).toMatchObject({ plan: 'pro', active: true, state: 'active' })

    await rows.setClock(at('12:00:00', 5))
    expect(await rows.features('final')).toEqual({ projects: 1 })
    expect(await rows.plan('final')).toMatchObject({ plan: 'free', active: false, state: 'ended', rank: 0 })
  })

  test('access that begins later is pending until then', async () => {
    await subscribeIn(rows, 'later', { from: at('12:00:00', 5) })

    await rows.setClock(at('11:59:55', 5))
    expect(await rows.plan('later')).toMatchObject({ plan: 'free', state: 'pending' })
    await rows.setClock(at('12:00:00', 5))
    expect(await rows.plan('later')).toMatchObject({ plan: 'pro', state: 'active' })
  })

  test('past a recheck end access stays, stale, for 72 hours', async () => {
    await subscribeIn(rows, 'recheck', { recheck: at('12:00:00', 2) })

    await rows.setClock(at('11:59:55', 2))
    expect(await rows.feature('recheck', 'export')).toMatchObject({
      stale: false,
      until_kind: 'recheck',
      until_at: new Date(at('12:00:00', 2)),
    })
    await rows.setClock(at('12:00:00', 2))
    expect(await rows.feature('recheck', 'export')).toMatchObject({
      stale: true,
      until_kind: 'stale',
      until_at: new Date(at('12:00:00', 5)),
    })
    expect(await rows.plan('recheck')).toMatchObject({ plan: 'pro', stale: true })
    await rows.setClock(at('11:59:55', 5))
    expect(await rows.features('recheck')).toEqual({ export: true })
    await rows.setClock(at('12:00:00', 5))
    expect(await rows.features('recheck')).toEqual({ projects: 1 })
    expect(await rows.plan('recheck')).toMatchObject({ plan: 'free', state: 'suspended' })
  })

  test('a customer that was last read long before the end has the same 72 hours', async () => {
    await subscribeIn(rows, 'old_read', { recheck: at('12:00:00', 20) })

    await rows.setClock(at('11:59:55', 23))
    expect(await rows.features('old_read')).toEqual({ export: true })
    await rows.setClock(at('12:00:00', 23))
    expect(await rows.features('old_read')).toEqual({ projects: 1 })
  })

  test('a read that was answered past the end moves the bound', async () => {
    await subscribeIn(rows, 'read_again', { recheck: at('12:00:00', 2) })
    await rows.query("update goodstanding.customers set read_at = $1 where tenant_id = 'read_again'", [
      at('12:00:00', 4),
    ])

    await rows.setClock(at('11:59:55', 7))
    expect(await rows.features('read_again')).toEqual({ export: true })
    await rows.setClock(at('12:00:00', 7))
    expect(await rows.features('read_again')).toEqual({ projects: 1 })
  })

  test('a final end that comes before the bound ends what is stale', async () => {
    await subscribeIn(rows, 'both', { recheck: at('12:00:00', 2), final: at('18:00:00', 2) })

    await rows.setClock(at('17:59:55', 2))
    expect(await rows.feature('both', 'export')).toMatchObject({
      stale: true,
      until_kind: 'final',
      until_at: new Date(at('18:00:00', 2)),
    })
    await rows.setClock(at('18:00:00', 2))
    expect(await rows.feature('both', 'export')).toBeNull()
  })

  test('without a key the bound counts from the recheck end itself', async () => {
    await subscribeIn(rows, 'payload', { recheck: at('12:00:00', 10) }, null)

    await rows.setClock(at('11:59:55', 13))
    expect(await rows.feature('payload', 'export')).toMatchObject({ stale: true })
    await rows.setClock(at('12:00:00', 13))
    expect(await rows.feature('payload', 'export')).toBeNull()
  })

  test('a customer on a test clock lives in its frozen time, and is stale by the real clock', async () => {
    await rows.addCustomer({ tenant: 'frozen', readAt: at('12:00:00'), testClockAt: '2035-06-01T00:00:00Z' })
    await rows.addRow({ tenant: 'frozen', feature: '$plan', value: 'pro', final: '2035-06-02T00:00:00Z' })
    await rows.addRow({ tenant: 'frozen', feature: 'export', value: true, recheck: '2035-05-01T00:00:00Z' })
    await rows.addRow({ tenant: 'frozen', feature: 'tier', value: 'x', final: '2035-05-31T00:00:00Z' })

    await rows.setClock(at('11:59:55', 4))
    expect(await rows.features('frozen')).toEqual({ export: true })
    expect(await rows.plan('frozen')).toMatchObject({ plan: 'pro', state: 'active' })
    await rows.setClock(at('12:00:00', 4))
    expect(await rows.features('frozen')).toEqual({})
  })
})

describe('while an account stands still', () => {
  const pause = (account: string) =>
    rows.query(
      "update goodstanding.accounts set paused_since = clock_timestamp(), pause_cause = 'spec' where account = $1",
      [account],
    )
  const resume = (account: string) =>
    rows.query(
      'update goodstanding.accounts set paused_since = null, pause_cause = null where account = $1',
      [account],
    )
  const held = async (tenant: string, account: string) => {
    await rows.addCustomer({ tenant, account, readAt: at('12:00:00') })
    await rows.addRow({ tenant, account, feature: 'export', value: true, recheck: at('12:00:00', 2) })
  }

  test('a pause stops the bound exactly, and is added to it afterwards', async () => {
    await rows.setClock(at('12:00:00'))
    await held('paused', 'p1')
    await rows.setClock(at('12:00:00', 3))
    await pause('p1')

    await rows.setClock(at('12:00:00', 9))
    expect(await rows.feature('paused', 'export')).toMatchObject({
      stale: true,
      until_at: null,
      until_kind: null,
    })
    await resume('p1')
    expect((await rows.feature('paused', 'export'))?.until_at?.getTime()).toBeCloseTo(
      Date.parse(at('12:00:00', 11)),
      -4,
    )
    await rows.setClock(at('11:59:50', 11))
    expect(await rows.features('paused')).toMatchObject({ export: true })
    await rows.setClock(at('12:00:10', 11))
    expect(await rows.features('paused')).toEqual({ projects: 1 })
  })

  test('what had run out before a pause stays gone', async () => {
    await rows.setClock(at('12:00:00'))
    await held('run_out', 'p2')
    await rows.setClock(at('13:00:00', 5))
    await pause('p2')

    expect(await rows.feature('run_out', 'export')).toBeNull()
    await rows.setClock(at('13:00:00', 7))
    expect(await rows.feature('run_out', 'export')).toBeNull()
  })

  test('a hold and a pause that overlap count once', async () => {
    await rows.setClock(at('12:00:00'))
    await held('overlap', 'p3')
    await rows.setClock(at('12:00:00', 2))
    await rows.query("update goodstanding.accounts set hold = true where account = 'p3'")
    await rows.setClock(at('12:00:00', 3))
    await pause('p3')
    await rows.setClock(at('12:00:00', 4))
    await rows.query("update goodstanding.accounts set hold = false where account = 'p3'")
    await rows.setClock(at('12:00:00', 5))
    await resume('p3')

    const [row] = await rows.query<{ hours: number }>(
      "select round(extract(epoch from goodstanding.paused_for('p3')) / 3600)::int as hours",
    )
    expect(row?.hours).toBe(72)
    await rows.setClock(at('11:59:50', 8))
    expect(await rows.features('overlap')).toMatchObject({ export: true })
    await rows.setClock(at('12:00:10', 8))
    expect(await rows.features('overlap')).toEqual({ projects: 1 })
  })

  test('a pause that ended before the read is not added', async () => {
    await rows.setClock(at('00:00:00'))
    await rows.addAccount('p4')
    await pause('p4')
    await rows.setClock(at('11:00:00'))
    await resume('p4')
    await rows.setClock(at('12:00:00'))
    await held('before', 'p4')

    await rows.setClock(at('11:59:55', 5))
    expect(await rows.feature('before', 'export')).not.toBeNull()
    await rows.setClock(at('12:00:00', 5))
    expect(await rows.feature('before', 'export')).toBeNull()
  })

  test('without a key, what has not run out waits for the account', async () => {
    await rows.addCustomer({ tenant: 'keyless', account: 'p5', readAt: null })
    await rows.addRow({
      tenant: 'keyless',
      account: 'p5',
      feature: 'export',
      value: true,
      recheck: at('12:00:00', 2),
    })
    await rows.setClock(at('12:00:00', 4))
    await rows.query("update goodstanding.accounts set hold = true where account = 'p5'")

    await rows.setClock(at('12:00:00', 20))
    expect(await rows.feature('keyless', 'export')).toMatchObject({ stale: true })
  })

  test('an account that nobody knows was never paused', async () => {
    const [row] = await rows.query<{ zero: boolean }>(
      "select goodstanding.paused_for('nobody') = '0' as zero",
    )
    expect(row).toEqual({ zero: true })
  })
})
