// Runs after all other specs: everything that the Stripe double said to them, each shape once, is what the installed
// stripe package's types allow. An upgrade of the SDK that changes an object fails here by its name.
import { beforeAll, expect, test } from 'vitest'
import { openHonesty, type Honesty } from '../stripe-sim/honesty/check.ts'
import { testimony } from '../stripe-sim/honesty/witness.ts'

const said = testimony(process.env['STRIPE_SIM_WITNESS'] ?? '')
const kindOf = ({ said: { object, type } }: (typeof said)[number]) =>
  object === 'event' ? String(type) : String(object)
const kinds = [...new Set(said.map(kindOf))].toSorted()

let honesty: Honesty
beforeAll(() => {
  honesty = openHonesty()
}, 60_000)

test.runIf(kinds.length > 0).each(kinds)('every %s was as the SDK has it', (kind) => {
  const lies = said
    .filter((each) => kindOf(each) === kind)
    .flatMap(({ said: object, by }) => honesty.objectProblems(object).map((lie) => `${by}: ${lie}`))
  expect([...new Set(lies)].slice(0, 5)).toEqual([])
})

// A run of one file by hand hears less.
test.runIf(process.env['CI'] !== undefined)('the specs heard enough for that to mean something', () => {
  expect(said.length).toBeGreaterThan(1_000)
  expect(kinds.length).toBeGreaterThan(50)
  expect(honesty.definitionsUsed()).toBeGreaterThan(1_500)
})
