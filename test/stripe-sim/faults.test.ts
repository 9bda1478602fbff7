// Faults on demand, as the real SDK meets them.

import { expect, test } from 'vitest'
import { client, main, start } from './testing.ts'

test.each([
  [{ status: 429, retryAfter: 2, shouldRetry: false } as const, { type: 'StripeRateLimitError' }, '429'],
  [{ status: 503 } as const, { statusCode: 503 }, '503'],
  [{ status: 403 } as const, { type: 'StripePermissionError' }, '403'],
  [{ reset: true } as const, { type: 'StripeConnectionError' }, 'reset'],
  [{ hang: true } as const, { type: 'StripeConnectionError' }, 'hang'],
  [{ truncate: true } as const, { type: 'StripeConnectionError' }, 'truncate'],
  [{ html: true } as const, { type: 'StripeAPIError' }, 'html'],
])('the fault %o reaches the SDK', async (fault, error, kind) => {
  const sim = await start()
  // A closed connection is retried once by the SDK, whatever it is told.
  sim.faults.next({ path: /account/, times: kind === 'reset' ? 2 : 1, fault })

  await expect(client(sim, main.apiKey, { timeout: 200 }).accounts.retrieveCurrent()).rejects.toMatchObject(
    error,
  )

  expect(sim.faults.fired()[0]).toEqual({ kind, account: 'default', path: '/v1/account' })
  expect(await client(sim).accounts.retrieveCurrent()).toMatchObject({ id: main.id })
})

test('failPage breaks exactly that page', async () => {
  const sim = await start()
  const shop = sim.account('default')
  const customer = shop.customer()
  for (const _ of [1, 2, 3]) shop.subscribe(customer.id, { items: [{ price: 'price_pro' }] })
  sim.faults.next({ path: /subscriptions/, fault: { failPage: 2 } })

  const seen: string[] = []
  const read = async () => {
    for await (const sub of client(sim).subscriptions.list({ customer: customer.id, limit: 1 }))
      seen.push(sub.id)
  }

  await expect(read()).rejects.toMatchObject({ statusCode: 500 })
  expect(seen).toHaveLength(1)
  expect(sim.faults.fired()).toEqual([{ kind: 'failPage', account: 'default', path: '/v1/subscriptions' }])
})

test('a stale read shows the state before the customer last changed', async () => {
  const sim = await start()
  const shop = sim.account('default')
  const { customer, subscription } = shop.checkout({ items: [{ price: 'price_pro' }] })
  shop.cancel(subscription?.id ?? '')
  sim.faults.next({ fault: { stale: true } })

  const list = () => client(sim).subscriptions.list({ customer: customer.id, status: 'all' })

  expect((await list()).data[0]?.status).toBe('active')
  expect((await list()).data[0]?.status).toBe('canceled')
})

test('chaos is the same for the same seed', async () => {
  const runs: string[][] = []
  for (const _ of [1, 2]) {
    const sim = await start()
    sim.faults.chaos({ seed: 3, rate: 0.5, kinds: [{ status: 500 }, { html: true }] })
    for (let n = 0; n < 10; n += 1)
      await client(sim)
        .accounts.retrieveCurrent()
        .catch(() => undefined)
    runs.push(sim.faults.fired().map((each) => each.kind))
  }

  expect(runs[0]?.length).toBeGreaterThan(1)
  expect(runs[0]).toEqual(runs[1])
})
