// Real payloads of all API versions since 2012, if they are here (STRIPE_CORPUS_DIR, or ../shared/corpus beside the
// checkout): none is answered with an error, each ends in one state, and none grants what Stripe does not confirm.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ACCOUNT, openWorld } from '../harness/world.ts'
import { seededRng, signedHeaders } from '../stripe-sim/sim.ts'

const CORPUS = process.env['STRIPE_CORPUS_DIR'] ?? join(import.meta.dirname, '../../../shared/corpus')
const here = existsSync(CORPUS)

test.skipIf(!here)(
  'recorded events in random order with duplicates: no error, one state each, nothing granted',
  async () => {
    const world = await openWorld()
    const events = recordedEvents()
    const random = seededRng(12)
    const deliveries = [...events, ...events.filter(() => random() < 0.3)].toSorted(() => random() - 0.5)

    const statuses = new Set<number>()
    for (const body of deliveries) {
      const response = await fetch(`${world.url}/webhooks/stripe`, {
        method: 'POST',
        headers: signed(body),
        body,
      })
      statuses.add(response.status)
    }
    await world.settle(60_000)

    expect(events.length).toBeGreaterThan(400)
    expect([...statuses]).toEqual([200])
    const [{ rows, states }] = (await world.query<{ rows: number; states: number }>(`
    select count(*)::int as rows,
      count(*) filter (where (processed_at is not null)::int + (dead_letter_at is not null)::int = 1)::int as states
    from goodstanding.billing_events`)) as [{ rows: number; states: number }]
    expect(rows).toBe(events.length)
    expect(states).toBe(events.length)
    expect(await world.query('select * from goodstanding.entitlements')).toEqual([])
    const reasons = await world.query<{ reason: string }>(
      'select distinct reason from goodstanding.billing_events where dead_letter_at is not null',
    )
    const expected = new Set(['unknown_at_stripe', 'unrecognized_stripe_payload', 'thin_event_without_data'])
    expect(reasons.map(({ reason }) => reason).filter((reason) => !expected.has(reason))).toEqual([])
  },
)

const signed = (body: string) => ({
  ...signedHeaders(body, ACCOUNT.webhookSecret),
  'content-type': 'application/json',
})

// Fixtures share made-up ids (`evt_00000000000000`): told apart here, or they would be duplicates of one another.
const recordedEvents = (): string[] =>
  globSync('**/*.json', { cwd: CORPUS })
    .toSorted()
    .flatMap((file) => eventsIn(JSON.parse(readFileSync(join(CORPUS, file), 'utf8'))))
    .map((event, index) => JSON.stringify({ ...event, id: `${String(event['id'])}_${index}` }, null, 2))

const eventsIn = (value: unknown): Record<string, unknown>[] => {
  if (Array.isArray(value)) return value.flatMap(eventsIn)
  if (typeof value !== 'object' || value === null) return []
  const record = value as Record<string, unknown>
  return isEvent(record) ? [record] : Object.values(record).flatMap(eventsIn)
}

const isEvent = ({ id, type, data }: Record<string, unknown>): boolean =>
  typeof id === 'string' &&
  id.startsWith('evt') &&
  typeof type === 'string' &&
  typeof data === 'object' &&
  data !== null &&
  'object' in data
