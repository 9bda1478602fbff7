// Two projects: `rules` needs no database and takes a second; `system` runs against PostgreSQL (test/harness). A test
// file belongs to `system` if it imports from test/harness/. GOODSTANDING_TEST_REPORT names a file for the JSON report.
import { globSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const files = globSync('test/**/*.test.ts', { cwd: ROOT }).toSorted()
const needsDatabase = (file: string) => /from '[./]+\/harness\//.test(readFileSync(ROOT + file, 'utf8'))
// These look at what the others logged and what their Stripe double said, so they run when the others are done.
const LAST = ['test/guarantees/honesty.test.ts', 'test/guarantees/logs.test.ts']
const system = files.filter((file) => needsDatabase(file) && !LAST.includes(file))
const rules = files.filter((file) => !system.includes(file) && !LAST.includes(file))
// The workers inherit it; test/stripe-sim/honesty/witness.ts writes there.
process.env['STRIPE_SIM_WITNESS'] ??= mkdtempSync(join(tmpdir(), 'goodstanding-said-'))
const SCHEMAS = 'test/stripe-sim/honesty/setup.ts'
const report = process.env['GOODSTANDING_TEST_REPORT']

export default defineConfig({
  root: ROOT,
  test: {
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    projects: [
      { extends: true, test: { name: 'rules', include: rules, globalSetup: SCHEMAS, testTimeout: 10_000 } },
      {
        extends: true,
        test: {
          name: 'system',
          include: system,
          globalSetup: [SCHEMAS, 'test/harness/global-setup.ts'],
          // Generous: these machines are shared, and a spec waits for facts, not for times.
          testTimeout: 180_000,
          hookTimeout: 60_000,
          // Each file has a database and worker processes of its own; two files keep two cores busy.
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: { name: 'last', include: LAST, testTimeout: 120_000, sequence: { groupOrder: 1 } },
      },
    ],
  },
})
