// Whole life cycles as fixture files of the official CLI (scenarios/*.json). The same files run against the double and,
// by a user with a test key, against Stripe itself (scenario.ts). Their times come from the environment.
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runCli, type CliRun, type CliTarget } from './cli.ts'

const FOLDER = new URL('scenarios/', import.meta.url)
const DAY_S = 86_400
const DAYS = [8, 32]

export const SCENARIOS = readdirSync(FOLDER)
  .map((file) => file.replace('.json', ''))
  .toSorted()

/** Each has a tenant of its own: in the metadata of its customer, or as client_reference_id. */
export const tenantOf = (scenario: string): string => scenario.replaceAll('-', '_')

/** The prices that the scenarios make have these lookup keys. */
export const SCENARIO_CATALOG = {
  default: 'free',
  graceDays: 7,
  plans: {
    free: { rank: 0, features: {} },
    basic: { rank: 10, prices: ['lookup:goodstanding_basic'], features: { export: true } },
    pro: {
      rank: 20,
      prices: ['lookup:goodstanding_pro'],
      features: { export: true, seats: { from: 'quantity' } },
    },
  },
} as const

/** `startMs`: where the test clocks of the scenario begin. */
export const runScenario = (target: CliTarget, scenario: string, startMs: number): Promise<CliRun> => {
  const start = Math.floor(startMs / 1_000)
  const days = DAYS.map((day) => [`SCENARIO_DAY_${day}`, String(start + day * DAY_S)])
  const env = { SCENARIO_START: String(start), ...Object.fromEntries(days) } as Record<string, string>
  const file = fileURLToPath(new URL(`${scenario}.json`, FOLDER))
  return runCli({ ...target, env }, ['fixtures', file])
}
