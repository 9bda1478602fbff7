// `npm run try:cli`: the double and the service stay up, and a person drives them by Stripe's own CLI in another
// terminal; shows each delivery and what it changed. Nothing leaves this machine.
import { setTimeout as sleep } from 'node:timers/promises'
import { ACCOUNT, READ_TOKEN } from '../harness/service.ts'
import { openStandalone, type Standalone } from '../harness/standalone.ts'
import { openHonesty } from '../stripe-sim/honesty/check.ts'
import { SCENARIO_CATALOG, SCENARIOS } from './scenarios.ts'

const LOOK_EVERY_MS = 250

const say = (line = '') => void process.stdout.write(`${line}\n`)

const invitation = ({ sim, service, databaseUrl }: Standalone): string => {
  const trigger = (event: string, tenant: string, plan: string) =>
    `  npx stripe trigger ${event} --api-base ${sim.url} \\
    --add "customer:metadata[tenant_id]=${tenant}" \\
    --add price:lookup_key=goodstanding_${plan} --add price:transfer_lookup_key=true`
  return `
In another terminal, in this folder:

  export STRIPE_API_KEY=${ACCOUNT.apiKey} STRIPE_CLI_TELEMETRY_OPTOUT=1

${trigger('customer.subscription.created', 'acme', 'pro')}

${trigger('subscription.payment_failed', 'bolt', 'basic')}

  npm run scenario -- upgrade-and-seats --api-base ${sim.url}
    (or ${SCENARIOS.filter((name) => name !== 'upgrade-and-seats').join(', ')})

  npx stripe customers list --api-base ${sim.url}
  npx stripe events resend EVENT --webhook-endpoint ENDPOINT --api-base ${sim.url}
  npx stripe get /v1/webhook_endpoints --api-base ${sim.url}
  npx stripe listen --all-snapshot --forward-to ${service.url}/webhooks/stripe/${ACCOUNT.name} --api-base ${sim.url}

What a tenant may use:

  curl -H 'Authorization: Bearer ${READ_TOKEN}' ${service.url}/v1/tenants/acme/entitlements
  psql '${databaseUrl}' -c 'select * from goodstanding.effective_plans'

Deliveries show here. Ctrl-C ends it.
`
}

type Plan = { tenant_id: string; plan: string; state: string }

const watch = async ({ sim, query }: Standalone, signal: AbortSignal): Promise<void> => {
  const shop = sim.account(ACCOUNT.name)
  const shown = new Map<string, string>()
  let told = 0
  while (!signal.aborted) {
    sim.clock.set(Date.now())
    shop.tick()
    for (const { type, eventId, status } of sim.delivery.log.slice(told))
      say(`  ${status}  ${type}  ${eventId}`)
    told = sim.delivery.log.length
    for (const { tenant_id: tenant, plan, state } of await query<Plan>(
      'select tenant_id, plan, state from goodstanding.effective_plans order by 1',
    )) {
      const now = `${plan} (${state})`
      if (shown.get(tenant) !== now) say(`       ${tenant}: ${shown.get(tenant) ?? 'nothing'} → ${now}`)
      shown.set(tenant, now)
    }
    await sleep(LOOK_EVERY_MS)
  }
}

const main = async () => {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  say('Starting an embedded PostgreSQL, the Stripe double and the service …')
  const folder = '.data/try-cli'
  const all = await openStandalone({
    folder,
    catalog: SCENARIO_CATALOG,
    now: Date.now(),
    honesty: openHonesty(),
  })
  all.sim.delivery.mode = 'auto'
  say(invitation(all))
  try {
    await watch(all, interrupted.signal)
  } finally {
    await all.close()
  }
}

await main()
process.exit()
