// `npm run demo`: a real PostgreSQL, the Stripe double and the service; a dozen tenants live through half a year in a
// minute while their webhooks come late, twice, out of order or not at all. Checks itself at the end; 0 if all is as it
// should be. On a terminal it is drawn in place and stays up; elsewhere, and with --fast, it does not dawdle. With
// --incident it plays a shift on call instead (incident.ts).
import { setTimeout as sleep } from 'node:timers/promises'
import { READ_TOKEN } from '../harness/service.ts'
import { check } from './check.ts'
import { fits } from './frame.ts'
import { playIncidents } from './incident.ts'
import { openLines } from './lines.ts'
import { liveThrough } from './live.ts'
import { paceOf } from './pace.ts'
import { paintFor } from './paint.ts'
import { openScreen, type Screen } from './screen.ts'
import { openTheatre, type Theatre } from './theatre.ts'
import { TENANTS } from './stories.ts'

const INTERRUPTED = 130
const CLOSE_MAX_MS = 10_000
// Long enough to follow, short enough to watch to the end.
const WATCHABLE_MS = 52_000

const { stdout } = process
const say = (line = '') => void stdout.write(`${line}\n`)

const main = async (): Promise<number> => {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort())
  // Nobody reads on (`| head`, a closed window): the database must still be stopped.
  stdout.on('error', () => interrupted.abort())
  let theatre: Theatre | null = null
  let view: Screen | null = null
  try {
    say('goodstanding demo: starting an embedded PostgreSQL, a simulated Stripe and the service …')
    theatre = await openTheatre(Date.now())
    view = openView()
    const right = await perform(theatre, view, interrupted.signal)
    view.close()
    say(whatNext(theatre))
    if (stdout.isTTY) {
      say('\nStill running; Ctrl-C ends it.')
      await untilAborted(interrupted.signal)
    }
    return right ? 0 : 1
  } catch (error) {
    if (!interrupted.signal.aborted) throw error
    return INTERRUPTED
  } finally {
    view?.close()
    await closeSoon(theatre, interrupted.signal)
  }
}

// Ctrl-C reaches PostgreSQL, too, so that what closes on it may fail or find nobody: that is no news then.
const closeSoon = async (theatre: Theatre | null, { aborted }: AbortSignal) => {
  const closed = theatre?.close().catch((error: unknown) => {
    if (!aborted) throw error
  })
  await Promise.race([closed, sleep(CLOSE_MAX_MS)])
}

const openView = (): Screen => {
  const paint = paintFor(stdout)
  const drawable = stdout.isTTY && process.env['TERM'] !== 'dumb' && fits(stdout, TENANTS.length)
  return drawable ? openScreen(stdout, paint) : { tell: openLines(say, paint), close: () => {} }
}

const perform = async (theatre: Theatre, { tell }: Screen, signal: AbortSignal): Promise<boolean> => {
  const dawdle = stdout.isTTY && !process.argv.includes('--fast')
  await liveThrough({ ...theatre, tell, pace: paceOf(dawdle ? WATCHABLE_MS : 0, signal) })
  const shop = theatre.sim.account(theatre.account)
  const checked = await check({ ...theatre, shop, at: theatre.sim.clock.now() })
  tell(checked)
  return checked.right
}

const whatNext = ({ service, databaseUrl }: Theatre): string => {
  const env = ['DATABASE_URL', 'ACCOUNTS_FILE', 'CATALOG_FILE']
    .map((name) => `${name}='${service.env[name]}'`)
    .join(' ')
  return `
What to look at next${stdout.isTTY ? '' : ' (on a terminal the demo stays up for it)'}:
  curl -H 'Authorization: Bearer ${READ_TOKEN}' ${service.url}/v1/tenants/acme/entitlements
  psql '${databaseUrl}' -c 'select * from goodstanding.effective_plans'
  psql '${databaseUrl}' -c 'select * from goodstanding.effective_entitlements order by 1, 2'
  psql '${databaseUrl}' -c 'select * from goodstanding.webhook_ledger order by received_at desc limit 20'
  ${env} npm run -s doctor`
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

process.exitCode = process.argv.includes('--incident') ? ((await playIncidents(say)) ? 0 : 1) : await main()
process.exit()
