// The corpus of recorded Stripe payloads: a folder that stands outside the repository, with an index.tsv that says of
// each file what it is and of which API version. It is only read; nothing of it may be copied in here.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Fields = Record<string, unknown>

/** One file of the corpus. `version` is '' where nothing says which it is. */
export type Recorded = { file: string; kind: string; version: string; json: unknown }

/** Built by us from recorded objects: proves nothing about Stripe. */
const DERIVED = 'derived/'

const BESIDE = join(import.meta.dirname, '../../../shared/corpus')

/** Where the specs find the corpus; null where there is none. */
export const findCorpus = (): string | null => {
  const folder = process.env['STRIPE_CORPUS_DIR'] ?? BESIDE
  return existsSync(join(folder, 'index.tsv')) ? folder : null
}

/** Every recorded file that the index names, in the order of the index. */
export const readCorpus = (folder: string): Recorded[] =>
  indexRows(readFileSync(join(folder, 'index.tsv'), 'utf8'))
    .filter(({ file }) => !file.startsWith(DERIVED))
    .map((row) => ({ ...row, json: JSON.parse(readFileSync(join(folder, row.file), 'utf8')) as unknown }))

/** The rows of an index: what a column means is said by the first line, not by its place. */
export const indexRows = (text: string): Omit<Recorded, 'json'>[] => {
  const [head = [], ...rows] = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split('\t'))
  const cell = (row: string[], column: string) => row[head.indexOf(column)]?.trim() ?? ''
  return rows.map((row) => ({
    file: cell(row, 'file'),
    kind: cell(row, 'kind'),
    version: dated(cell(row, 'api_version')),
  }))
}

/** `2016-03-07; orders_beta=v3` is 2016-03-07. */
export const dated = (version: string): string => version.split(';')[0]?.trim() ?? ''

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of an object; none of anything else. */
export const fieldsIn = (value: unknown): Fields => (isFields(value) ? value : {})

export const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The message of an answer that is an error; '' of any other. */
export const messageOf = (answer: unknown): string =>
  textIn(fieldsIn(fieldsIn(answer)['error'])['message']) ?? ''
