// Documents tell the truth: generated blocks are fresh, paths that they name exist, codes have their row, the
// commands of the README are the ones that CI runs, and schema changes are numbered without a gap.
import { globSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { compareDocuments, renderBlocks } from '../../src/cli/docs.ts'
import { parseCatalog } from '../../src/entitlements/catalog.ts'
import { ERRORS } from '../../src/errors.ts'
import { codeOf, exists, readText, ROOT, sourceFiles } from './source.ts'

const READMES = globSync('{README.md,*/README.md,.github/*.md}', { cwd: ROOT }).filter(
  (path) => !path.startsWith('node_modules'),
)

test.each(compareDocuments().map(({ file, current, fresh }) => [file, current, fresh]))(
  '%s is what `npm run docs` writes',
  (_file, current, fresh) => {
    expect(current).toBe(fresh)
  },
)

test('a block that nobody renders is an error', () => {
  expect(() => renderBlocks('<!-- generated:nonsense -->\n<!-- /generated:nonsense -->')).toThrow('nonsense')
})

// `src/config.ts`, `deploy/`, [text](LICENSE): from the root, or from the document's own folder.
const pathsIn = (text: string): string[] => [
  ...[...text.matchAll(/`((?:src|sql|test|deploy|\.github|\.ci)\/[\w./-]*|[\w-]+\.md)`/g)].map(
    (match) => match[1] ?? '',
  ),
  ...[...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map((match) => match[1] ?? ''),
]

test.each(READMES)('every path that %s names exists', (document) => {
  const missing = pathsIn(readText(document)).filter(
    (path) => !exists(path) && !exists(normalize(join(dirname(document), path))),
  )
  expect(missing).toEqual([])
})

test('the README has the two command lines, and CI runs the second', () => {
  const readme = readText('README.md')
  expect(readme).toContain('\nnpm ci && npm run demo\nnpm ci && npm test\n')
  expect(readText('.ci/run')).toMatch(/npm ci \|\|[^]*npm test \|\|/)
  expect(readme.split('\n').length).toBeLessThanOrEqual(200)
})

test('every error code has its row, and every row is thrown somewhere', () => {
  const code = sourceFiles('src')
    .filter(({ path }) => path !== 'errors.ts')
    .map(codeOf)
    .join('\n')
  const thrown = [...code.matchAll(/new AppError\(([^;]*?)[,)]\s/g)].flatMap((match) => [
    ...(match[1] ?? '').matchAll(/'([a-z_]+\/[a-z_]+)'/g),
  ])
  expect(thrown.map((match) => match[1]).filter((name) => !(name !== undefined && name in ERRORS))).toEqual(
    [],
  )
  expect(Object.keys(ERRORS).filter((name) => !code.includes(`'${name}'`))).toEqual([])
})

test('schema changes are numbered from 0001 without a gap, one subject each', () => {
  const files = globSync('sql/changes/*', { cwd: ROOT }).toSorted()
  const numbers = files.map((file) => /\/(\d{4})_[a-z_]+\.sql$/.exec(file)?.[1])
  expect(numbers).toEqual(files.map((_, index) => String(index + 1).padStart(4, '0')))
})

test('the example catalog is a catalog', () => {
  expect(parseCatalog(readText('deploy/catalog.example.json')).kind).toBe('catalog')
})
