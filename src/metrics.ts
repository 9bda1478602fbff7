// What is measured, and its text for Prometheus. The only user of OpenTelemetry; pg-boss measures itself into the same
// provider. Labels are names and codes of ours: never an id, of which there are as many as customers.
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

export type Metrics = {
  /** For pg-boss. */
  provider: MeterProvider
  /** A delivery was answered: stored, ignored, duplicate, signature_invalid, not_stored, … */
  delivery: (account: string, result: string) => void
  /** An attempt was settled. `latencyMs`: from receipt to effect, where it was processed. */
  settled: (input: { account: string; how: string; reason: string | null; latencyMs: number | null }) => void
  /** Stripe was read for an event, or that was not needed. */
  coverage: (account: string, how: 'read' | 'covered') => void
  stripeCall: (input: { account: string; endpoint: string; status: string; ms: number }) => void
  /** Something that a person should see was logged. */
  alert: (code: string) => void
  /** Load of a pool, asked for at each scrape. */
  pool: (name: string, load: () => { active: number; waiting: number }) => void
  /** Values that are read when somebody scrapes; a failure leaves them out of that scrape. */
  gauges: (read: () => Promise<readonly Reading[]>) => void
  /** In Prometheus' text format. */
  text: () => Promise<string>
}

export type GaugeName = keyof typeof GAUGES
export type Reading = { gauge: GaugeName; value: number; labels: Record<string, string> }

const PREFIX = 'goodstanding'
const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200]

/** Every gauge that is read at a scrape, with its help text. */
const GAUGES = {
  events: 'Events that are not processed, by account and state: ready, deferred, pending (all), dead.',
  oldest_ready_seconds:
    'Age of the oldest event that could be worked now, deferred ones apart; 0 where there is none.',
  account_stopped: '1 where an account is in hold or paused, with the cause.',
  findings_open: 'Open findings that nobody has acknowledged, by code.',
  sweep_failures: 'Failed runs of a sweep in a row.',
  sweep_age_seconds: 'Time since the last run of a sweep ended.',
  drift_customers: 'Customers for whom the last comparison found a difference.',
  workers_alive: 'Worker processes that were seen within half a minute.',
  clock_skew_seconds: 'How far this machine is ahead of the database.',
  revocation_holds: 'Holds of revocations that are in force.',
} as const

/** Opens a provider of its own; nothing listens. */
export const openMetrics = (): Metrics => {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const serializer = new PrometheusSerializer('', false, undefined, true, true)
  const provider = new MeterProvider({ readers: [exporter] })
  const meter = provider.getMeter(PREFIX)
  const counter = (name: string, description: string) =>
    meter.createCounter(`${PREFIX}_${name}`, { description })
  const seconds = (name: string, description: string) =>
    meter.createHistogram(`${PREFIX}_${name}`, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    })
  const deliveries = counter('deliveries', 'Deliveries by result.')
  const attempts = counter('attempts', 'Settled attempts by how they ended.')
  const dead = counter('dead_letters', 'Events that became dead letters, by reason.')
  const latency = seconds('event_latency_seconds', 'From receipt to effect.')
  const reads = counter('reads', 'Events for which Stripe was read, or that an earlier read covered.')
  const calls = seconds('stripe_call_seconds', 'Calls to Stripe by endpoint and status.')
  const alerts = counter('alerts', 'Log lines that a person should see, by code.')
  const pools = meter.createObservableGauge(`${PREFIX}_pool_connections`, {
    description: 'Callers that hold or wait for a connection, by pool.',
  })
  return {
    provider,
    delivery: (account, result) => deliveries.add(1, { account, result }),
    settled: ({ account, how, reason, latencyMs }) => {
      attempts.add(1, { account, how })
      if (how === 'dead') dead.add(1, { account, reason: reason ?? 'none' })
      if (latencyMs !== null) latency.record(latencyMs / 1_000, { account })
    },
    coverage: (account, how) => reads.add(1, { account, how }),
    stripeCall: ({ ms, ...labels }) => calls.record(ms / 1_000, labels),
    alert: (code) => alerts.add(1, { code }),
    pool: (name, load) =>
      pools.addCallback((result) => {
        const { active, waiting } = load()
        result.observe(active, { pool: name, state: 'active' })
        result.observe(waiting, { pool: name, state: 'waiting' })
      }),
    gauges: (read) => observe(provider, read),
    text: async () => serializer.serialize((await exporter.collect()).resourceMetrics),
  }
}

const observe = (provider: MeterProvider, read: () => Promise<readonly Reading[]>) => {
  const meter = provider.getMeter(PREFIX)
  const gauges = new Map(
    Object.entries(GAUGES).map(([name, description]) => [
      name,
      meter.createObservableGauge(`${PREFIX}_${name}`, { description }),
    ]),
  )
  meter.addBatchObservableCallback(
    async (result) => {
      for (const { gauge, value, labels } of await read()) {
        const observable = gauges.get(gauge)
        if (observable !== undefined) result.observe(observable, value, labels)
      }
    },
    [...gauges.values()],
  )
}
