// The double, seen through the real SDK: what it answers, delivers, breaks on demand, and what its oracle
// says.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Stripe from 'stripe'
import { afterEach } from 'vitest'
import type { SimAccount, StripeSim } from './sim.ts'
import { startStripeSim } from './sim.ts'

export const main: SimAccount = {
  name: 'default',
  id: 'acct_1SimMain0000001',
  apiKey: 'sk_test_simulated_main',
  livemode: false,
  webhookSecret: 'whsec_simulated_main',
}
export const old: SimAccount = {
  ...main,
  name: 'old',
  id: 'acct_1SimOld00000001',
  apiKey: 'sk_test_simulated_old',
  apiVersion: '2020-08-27',
}

const stopping: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop()
})

export const start = async (): Promise<StripeSim> => {
  const sim = await startStripeSim({ accounts: [main, old] })
  stopping.push(() => sim.close())
  for (const name of ['default', 'old']) sim.account(name).price({ id: 'price_pro', product: 'prod_pro' })
  return sim
}

export const client = (sim: StripeSim, key = main.apiKey, options: object = {}) =>
  new Stripe(key, {
    host: '127.0.0.1',
    port: sim.port,
    protocol: 'http',
    telemetry: false,
    maxNetworkRetries: 0,
    ...options,
  })

/** A receiver that answers with the given statuses in turn, then 200. */
export const receiver = async (statuses: number[] = []) => {
  const bodies: { text: string; signature: string }[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const signature = String(request.headers['stripe-signature'])
      bodies.push({ text: Buffer.concat(chunks).toString(), signature })
      response.writeHead(statuses.shift() ?? 200).end('ok')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stopping.push(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  )
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}
