// `npm run scenario -- NAME [--api-base URL]`: one life cycle by the official CLI, with the key in STRIPE_API_KEY. Without
// --api-base it runs against Stripe itself, with a test key only: for a user to compare the double with the real thing.
import { hasCli } from './cli.ts'
import { runScenario, SCENARIOS, tenantOf } from './scenarios.ts'

const STRIPE = 'https://api.stripe.com'

const problemWith = (name: string | undefined, apiKey: string): string | null => {
  if (name === undefined || !SCENARIOS.includes(name)) {
    return `name one of these scenarios:\n  ${SCENARIOS.join('\n  ')}\nfor example: npm run scenario -- ${SCENARIOS[0]}`
  }
  if (!/^(sk|rk)_test_/.test(apiKey))
    return 'set STRIPE_API_KEY to a test key (sk_test_…): scenarios make objects'
  return hasCli ? null : `the Stripe CLI has no binary for ${process.platform} ${process.arch}`
}

const [name, flag, given] = process.argv.slice(2)
const apiKey = process.env['STRIPE_API_KEY'] ?? ''
const problem = problemWith(name, apiKey)
if (problem !== null || name === undefined) {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 2
} else {
  const apiBase = flag === '--api-base' && given !== undefined ? given : STRIPE
  const { code, text } = await runScenario({ apiBase, apiKey }, name, Date.now())
  process.stdout.write(`${text.trimEnd()}\n\nTenant of this scenario: ${tenantOf(name)}\n`)
  process.exitCode = code ?? 1
}
