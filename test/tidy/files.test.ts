// What a reader relies on in each file: it says what it is for, it is short, it reads the environment and the clock
// only where that is its job.
import { expect, test } from 'vitest'
import { codeOf, sourceFiles, type SourceFile } from './source.ts'

const LINES_MAX = 250
const HEADER_MAX = 10
// They hand the clock on, or compare it with the database's.
const CLOCK = /^(main|runtime|cli\/doctor)\.ts$/
// Spreads retries of a crowd.
const LOTS = /^inbox\/(outage|settle)\.ts$/

const src = sourceFiles('src')
const all = [
  ...src.map((file) => ({ ...file, path: `src/${file.path}` })),
  ...sourceFiles('test').map((file) => ({ ...file, path: `test/${file.path}` })),
]

const offenders = (files: SourceFile[], offends: (file: SourceFile) => boolean) =>
  files.filter(offends).map(({ path }) => path)

const headerLines = ({ text }: SourceFile): number => {
  const lines = text.split('\n')
  const start = lines[0]?.startsWith('#!') ? 1 : 0
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('//'))
  return end - start
}

test('every file opens with 1 to 10 lines that say what it is for', () => {
  expect(offenders(all, (file) => headerLines(file) < 1 || headerLines(file) > HEADER_MAX)).toEqual([])
})

test('no file is longer than 250 lines', () => {
  expect(offenders(all, ({ text }) => text.trimEnd().split('\n').length > LINES_MAX)).toEqual([])
})

test('only config.ts reads the environment, which main.ts hands in', () => {
  const readers = offenders(src, (file) => /process\.env/.test(codeOf(file)))
  expect(readers.filter((path) => path !== 'config.ts')).toEqual(['main.ts'])
})

test('the clock is read where that is the job', () => {
  const reads = (file: SourceFile) => /Date\.now\b|new Date\(\)/.test(codeOf(file))
  expect(offenders(src, (file) => reads(file) && !CLOCK.test(file.path))).toEqual([])
})

test('lots are drawn only to spread retries', () => {
  expect(offenders(src, (file) => /Math\.random/.test(codeOf(file)) && !LOTS.test(file.path))).toEqual([])
})

test('nothing is left half done: no only, no skip, no todo', () => {
  const marks = /\b(test|describe|it)\.(only|skip|todo)\b|\b(TO[D]O|FIX[M]E)\b/
  expect(offenders(all, ({ text }) => marks.test(text))).toEqual([])
})

test('titles of tests are unique in their file', () => {
  const twice = (file: SourceFile) => {
    const titles = [
      ...codeOf(file).matchAll(/^\s*(?:test|describe)(?:\.each\b[^]*?\]\))?\(\s*(['"`])(.+?)\1,/gm),
    ].map((match) => match[2])
    return new Set(titles).size < titles.length
  }
  expect(
    offenders(
      all.filter(({ path }) => path.endsWith('.test.ts')),
      twice,
    ),
  ).toEqual([])
})
