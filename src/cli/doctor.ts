// `doctor`: checks configuration, database and Stripe; starts no service, changes nothing but a test event that is stored as
// ignored. Each finding says what to do.
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import { EXIT } from '../exit.ts'
import type { Instant } from '../time.ts'
import { readCatalog } from './catalog-file.ts'
import { fail, note, ok, type Check } from './doctor-check.ts'
import { checkDatabase } from './doctor-database.ts'
import { checkAccounts, checkDeliveries } from './doctor-stripe.ts'
import type { Out } from './program.ts'

const NODE_MAJOR = 24

export type DoctorOptions = {
  json: boolean
  /** Also what must hold before real money is activated. */
  rollout: boolean
  now: () => Instant
}

/** Prints one line a check; exit code 3 where one failed. */
export const doctor = async (config: Config, options: DoctorOptions, out: Out): Promise<number> => {
  const database = await checkDatabase(config, options)
  const checks = [
    nodeVersion(),
    checkCatalog(config),
    ...database.checks,
    ...(await checkAccounts(config, database.accounts)),
    ...(await checkDeliveries(config, options.now)),
    ...(options.rollout ? [await checkMetrics(config)] : []),
  ]
  const failed = checks.filter(({ ok: isOk }) => isOk === false).length
  if (options.json) out.result(JSON.stringify({ ok: failed === 0, checks }))
  else for (const line of told(checks, failed)) out.result(line)
  return failed === 0 ? EXIT.ok : EXIT.found_problems
}

const told = (checks: readonly Check[], failed: number): string[] => [
  ...checks.map(
    ({ ok: isOk, what }) => `${isOk === true ? 'ok   ' : isOk === 'note' ? 'note ' : 'FAIL '} ${what}`,
  ),
  failed === 0 ? 'Everything that was checked is in order.' : `${failed} of ${checks.length} checks failed.`,
]

const nodeVersion = (): Check => {
  const major = Number(process.versions.node.split('.')[0])
  return major >= NODE_MAJOR
    ? ok(`Node.js ${process.versions.node}`)
    : fail(`Node.js ${process.versions.node}: install ${NODE_MAJOR} or newer`)
}

const checkCatalog = (config: Config): Check => {
  try {
    const { catalog, hash } = readCatalog(config.catalogFile)
    const plans = Object.keys(catalog.plans).length
    return ok(`catalog ${config.catalogFile}: ${plans} plans (${hash.slice(0, 12)})`)
  } catch (error) {
    const facts = error instanceof AppError ? JSON.stringify(error.facts) : ''
    return fail(`catalog ${config.catalogFile} cannot be used: ${facts}`)
  }
}

// Alarms come from what is scraped.
const checkMetrics = async ({ host, metricsPort }: Config): Promise<Check> => {
  if (metricsPort === null) return fail('METRICS_PORT is not set: nobody could be alarmed')
  const at = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${metricsPort}/metrics`
  try {
    const response = await fetch(at, { signal: AbortSignal.timeout(3_000) })
    return response.ok
      ? ok(`${at} answers; deploy/prometheus/rules.yml has the alarms`)
      : fail(`${at} answered ${response.status}`)
  } catch {
    return note(`nothing answers at ${at}: is the service on another machine?`)
  }
}
