// The corpus run over recorded payloads, if they are here (STRIPE_CORPUS_DIR, or ../shared/corpus beside the checkout).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findCorpus } from './read.ts'
import { failuresOf, runCorpus, withBlocks } from './report.ts'

const folder = findCorpus()
const README = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

test.skipIf(folder === null)(
  'recorded objects are understood or refused, never misread, and the README says so; exchanges are comparable',
  { timeout: 60_000 },
  async () => {
    const report = await runCorpus(folder ?? '')

    expect(failuresOf(report)).toEqual([])
    expect(README).toContain(report.blocks.objects)
    const compared = report.replayed.filter(({ outcome }) => outcome.kind !== 'not_comparable')
    expect(compared.length).toBeGreaterThan(100)
    const crashes = compared.flatMap(({ outcome }) =>
      outcome.kind === 'differs' ? outcome.differences.filter(({ at }) => at.endsWith('as 501')) : [],
    )
    expect(crashes).toEqual([])
  },
)

test('a run in which nothing was understood or comparable has failed', () => {
  expect(failuresOf({ judged: [], replayed: [] })).toEqual([
    'no object was understood',
    'no exchange could be compared',
  ])
})

test('what was misread is named with its file', () => {
  const verdict = { kind: 'misread' as const, why: 'status: active instead of paused' }
  const judged = [{ kind: 'subscription' as const, version: '', file: 'a/b.json', raw: {}, verdict }]

  expect(failuresOf({ judged, replayed: [] })).toContain(
    'misread: subscription in a/b.json: status: active instead of paused',
  )
})

test('blocks are rewritten where they stand; a document without them is an error', () => {
  const blocks = { objects: '| a |', exchanges: '| b |' }
  const empty =
    '<!-- corpus:objects -->\n<!-- /corpus:objects -->\n<!-- corpus:exchanges -->\nold\n<!-- /corpus:exchanges -->\n'

  expect(withBlocks(empty, blocks)).toBe(
    '<!-- corpus:objects -->\n| a |\n<!-- /corpus:objects -->\n<!-- corpus:exchanges -->\n| b |\n<!-- /corpus:exchanges -->\n',
  )
  expect(() => withBlocks('', blocks)).toThrow('corpus:objects')
})
