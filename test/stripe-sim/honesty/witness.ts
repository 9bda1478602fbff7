// Everything that the double says during a test run, each shape once, in a file per process: after the run all of it is
// held against the SDK's types (honesty.test.ts). Does nothing unless STRIPE_SIM_WITNESS names a folder.
import { appendFileSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Hash = Record<string, unknown>
export type Testimony = { said: Hash; by: string }

const FOLDER = process.env['STRIPE_SIM_WITNESS']
const seen = new Set<string>()

/** `by`: the request or event type, for the one who reads the complaint. */
export const witness = (said: object, by: string): void => {
  if (FOLDER === undefined) return
  const print = printOf(said)
  if (seen.has(print)) return
  seen.add(print)
  appendFileSync(join(FOLDER, `${process.pid}.jsonl`), `${JSON.stringify({ said, by })}\n`)
}

export const testimony = (folder: string): Testimony[] =>
  globSync('*.jsonl', { cwd: folder }).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Testimony),
  )

// Same keys, same kinds of values, same words of enums: the same shape. Ids, names and numbers do not make another.
const printOf = (said: object): string =>
  JSON.stringify(said, (_key, value: unknown) => {
    if (typeof value === 'number') return 0
    if (typeof value !== 'string' || /^[a-z][a-z_.]{0,40}$/.test(value)) return value
    return /^-?\d+(\.\d+)?$/.test(value) ? '0' : '*'
  })
