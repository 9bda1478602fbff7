// `npm run corpus`: recorded payloads of Stripe against the service's rules and against the Stripe double, as tables.
// `-- --write` puts them into test/README.md. Exits 2 where there is no corpus, 1 where something recorded is misread
// or nothing could be compared.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findCorpus } from './read.ts'
import { failuresOf, runCorpus, withBlocks } from './report.ts'

const README = join(import.meta.dirname, '../README.md')

const say = (text: string) => void process.stdout.write(`${text}\n`)

const main = async (args: string[]): Promise<number> => {
  const folder = process.env['STRIPE_CORPUS_DIR'] === undefined ? null : findCorpus()
  if (folder === null) {
    say('STRIPE_CORPUS_DIR is not set, or names no folder with an index.tsv: nothing to run.')
    return 2
  }
  const report = await runCorpus(folder)
  say(report.text)
  const failures = failuresOf(report)
  for (const failure of failures) say(failure)
  if (args.includes('--write')) {
    writeFileSync(README, withBlocks(readFileSync(README, 'utf8'), report.blocks))
    say('wrote the tables of test/README.md')
  }
  return failures.length === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
