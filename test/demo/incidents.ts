// The six things that go wrong in a shift: what happens, how it is found, explained and repaired.
import { readFileSync, writeFileSync } from 'node:fs'
import { hurry } from '../harness/time-travel.ts'
import { until, untilStopped } from '../harness/service.ts'
import type { Shift } from './shift.ts'

export type Incident = { title: string; play: (shift: Shift) => Promise<void> }

const ATTEMPTS = 12

// Sells without delivering.
const sell = ({ shop }: Shift, tenant: string | null, price: string): string => {
  const { id } = shop.customer(tenant === null ? {} : { metadata: { tenant_id: tenant } })
  shop.subscribe(id, { items: [{ price }] })
  return id
}

// Back-offs of hours pass in seconds.
const exhaust = async ({ query }: Shift) => {
  const dead = 'select 1 from goodstanding.billing_events where dead_letter_at is not null'
  for (let turn = 0; turn < ATTEMPTS * 4 && (await query(dead)).length === 0; turn += 1) {
    await hurry(query)
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  await hurry(query)
}

const deadIds = async ({ query }: Shift) =>
  (
    await query<{ event_id: string }>(
      'select event_id from goodstanding.billing_events where dead_letter_at is not null order by received_seq',
    )
  ).map(({ event_id: id }) => id)

const wrongPrices: Incident = {
  title: 'A price is sold that no plan names',
  play: async (shift) => {
    sell(shift, 'echo', 'price_team')
    await shift.sim.delivery.flush()
    await untilStopped(shift, 'unmapped_stripe_price')
    shift.tell('Nobody looks for a day; the attempts are used up.')
    await exhaust(shift)
    await until('all of them are settled or dead', async () => {
      await hurry(shift.query)
      return (
        (
          await shift.query(
            "select 1 from goodstanding.billing_events where reason = 'unmapped_stripe_price' and dead_letter_at is null and processed_at is null",
          )
        ).length === 0
      )
    })
    await shift.expect(['status'], /dead letters/)
    await shift.expect(['dead', 'groups'], /unmapped_stripe_price/)
    await shift.expect(['catalog', 'unmapped'], /price_team/)
    const [id = ''] = await deadIds(shift)
    await shift.expect(['dead', 'show', id], /unmapped_stripe_price/)
    shift.tell('The price goes into the catalog of both replicas. That replays nothing by itself.')
    for (const { env } of shift.replicas) {
      const file = env['CATALOG_FILE'] ?? ''
      const catalog = JSON.parse(readFileSync(file, 'utf8')) as { plans: { pro: { prices: string[] } } }
      catalog.plans.pro.prices.push('price_team')
      writeFileSync(file, JSON.stringify(catalog))
    }
    await until(
      'the catalog is in force',
      async () =>
        (await shift.query("select 1 from goodstanding.catalogs where body::text like '%price_team%'"))
          .length > 0,
    )
    for (const dead of await deadIds(shift))
      await shift.act(['requeue', dead], 'price is mapped now', /runs at once/)
    await shift.deliver()
    await shift.access('echo', 'pro')
  },
}

const unlinked: Incident = {
  title: 'A checkout that names no tenant',
  play: async (shift) => {
    const customer = sell(shift, null, 'price_basic')
    await shift.sim.delivery.flush()
    await untilStopped(shift, 'customer_not_linked')
    await shift.expect(['customers', 'list', '--unlinked'], new RegExp(customer))
    await shift.expect(['why', 'fern', 'export'], /Nobody ever named a tenant fern/)
    await shift.act(['link', 'fern', customer], 'sold by phone, see ticket 4711', /is fern \(linked\)/)
    await shift.deliver()
    await shift.access('fern', 'basic')
    await shift.expect(['why', 'fern', 'export'], /fern may use export/)
  },
}

const outage = (title: string, fault: { status: 401 } | { status: 503 }, cause: string): Incident => ({
  title,
  play: async (shift) => {
    shift.sim.faults.next({ path: /./, times: 10_000, fault })
    for (const tenant of ['acme', 'bolt', 'crux', 'dune']) {
      const [customer] = await shift.query<{ customer_id: string }>(
        'select customer_id from goodstanding.customers where tenant_id = $1',
        [tenant],
      )
      const [subscription] = shift.shop.subscriptionsOf(customer?.customer_id ?? '')
      shift.shop.updateSubscription(subscription?.id ?? '', { quantity: fault.status === 401 ? 3 : 4 })
    }
    await shift.sim.delivery.flush()
    await shift.waitFor(['status'], new RegExp(`is paused \\(${cause}\\)`))
    shift.tell('Nobody loses anything, no attempt is spent; everybody keeps what they had.')
    await shift.access('acme', 'pro')
    shift.sim.faults.clear()
    shift.tell(
      fault.status === 401
        ? 'A valid key is put in place; a probe finds it.'
        : 'Stripe is back; a probe finds it.',
    )
    await shift.waitFor(['status'], /^All is in order/)
    await shift.deliver()
    await shift.expect(
      ['why', 'acme', 'seats'],
      new RegExp(`acme may use seats \\(${fault.status === 401 ? 3 : 4}\\)`),
    )
  },
})

const lostWebhooks: Incident = {
  title: 'An hour of webhooks is lost',
  play: async (shift) => {
    sell(shift, 'gale', 'price_pro')
    await shift.sim.delivery.flush({ lose: 1 })
    await shift.replicas[0].advance(3_600_000)
    await shift.expect(['catchup', '--days', '1'], /are missing, 0 stored now/)
    await shift.expect(['drift', '--dry-run'], /not_linked|differ/)
    await shift.act(['catchup', '--days', '1', '--store'], 'the endpoint was disabled', /stored now/)
    await shift.deliver()
    await shift.access('gale', 'pro')
    await shift.expect(['catchup', '--days', '1'], /none is missing/)
  },
}

const poison: Incident = {
  title: 'An event that nobody can read',
  play: async (shift) => {
    const event = shift.shop.events().find(({ type }) => type === 'customer.subscription.created')
    if (event === undefined) throw new Error('nobody subscribed')
    await shift.sim.delivery.post('default', {
      ...event,
      id: 'evt_poison',
      data: { object: { object: 'price' } },
    })
    await until('it is dead', async () => (await deadIds(shift)).length > 0)
    await shift.expect(['status'], /1 dead letters/)
    await shift.expect(['dead', 'list'], /evt_poison.*unrecognized_stripe_payload/)
    await shift.act(['resolve', 'evt_poison', '--discard'], 'made by a script of ours', /is closed/)
    await shift.expect(['events', 'show', 'evt_poison'], /discarded_by_operator/)
  },
}

export const INCIDENTS: readonly Incident[] = [
  wrongPrices,
  unlinked,
  outage('The API key is revoked', { status: 401 }, 'stripe_unauthorized'),
  outage('Stripe is down', { status: 503 }, 'stripe_unavailable'),
  lostWebhooks,
  poison,
]
