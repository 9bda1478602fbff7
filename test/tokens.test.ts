// API tokens: what is stored, who is known, and what happens to the file while others read it.
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createToken, type TokenRequest } from '../src/cli/token.ts'
import { createTokenCheck, hashToken, loadTokens, type Token } from '../src/tokens.ts'

const NOON = Date.parse('2026-12-01T12:00:00Z')
const TOMORROW = '2026-12-02T12:00:00Z'

const aFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'goodstanding-tokens-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'tokens.json')
}

const aToken = (bearer: string, rest: Partial<Token> = {}): Token => ({
  name: bearer,
  sha256: hashToken(bearer),
  scopes: ['read'],
  expires: TOMORROW,
  ...rest,
})

// Each writing moves the file's time on, as it does when a person writes.
let written = 1_000
const write = (file: string, content: unknown) => {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  utimesSync(file, written, (written += 1))
}

const create = (request: Partial<TokenRequest>) => {
  const result: string[] = []
  const problem: string[] = []
  const out = { result: (line: string) => result.push(line), problem: (line: string) => problem.push(line) }
  const code = createToken({ name: 'app', scopes: ['read'], days: 1, file: null, now: NOON, ...request }, out)
  return { code, result, problem: problem.join('\n') }
}

test('a created token is known at once, by name and scopes', () => {
  const file = aFile()
  const { code, result } = create({ file, scopes: ['read', 'explain'] })
  expect(code).toBe(0)
  expect(createTokenCheck(file, () => NOON).verify(result[0] ?? '')).toEqual({
    kind: 'ok',
    name: 'app',
    scopes: ['read', 'explain'],
  })
})

test('a token has 32 random bytes, and only its hash is stored, for the owner alone', () => {
  const file = aFile()
  const { result, problem } = create({ file })
  expect(result).toEqual([expect.stringMatching(/^gs_[\w-]{43}$/)])
  expect(readFileSync(file, 'utf8') + problem).not.toContain(result[0])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('without a file the entry to add is printed beside the token', () => {
  const { code, result, problem } = create({})
  expect(code).toBe(0)
  expect(problem).toContain(`"sha256":"${hashToken(result[0] ?? '')}"`)
})

test('a second token is added, a name that is taken is refused and changes nothing', () => {
  const file = aFile()
  create({ file })
  create({ file, name: 'other' })
  expect(create({ file })).toMatchObject({ code: 6, result: [] })
  expect(loadTokens(file)).toMatchObject({ kind: 'tokens', tokens: [{ name: 'app' }, { name: 'other' }] })
})

test('a file that cannot be read is never overwritten', () => {
  const file = aFile()
  write(file, '{"tokens": oops')
  expect(create({ file }).code).toBe(1)
  expect(readFileSync(file, 'utf8')).toBe('{"tokens": oops')
})

test('two writers at once: the second is told to come again', () => {
  const file = aFile()
  writeFileSync(`${file}.new`, '')
  expect(create({ file }).code).toBe(6)
})

test.each([
  ['an unknown token', 'gs_b', 'unknown'],
  ['an empty one', '', 'unknown'],
  ['the stored hash itself', hashToken('gs_a'), 'unknown'],
  ['one that is far too long', 'x'.repeat(100_000), 'unknown'],
  ['a good one', 'gs_a', 'ok'],
  ['one that expires at this moment', 'gs_old', 'expired'],
])('%s is answered %3$s', (_, bearer, kind) => {
  const file = aFile()
  write(file, { tokens: [aToken('gs_a'), aToken('gs_old', { expires: '2026-12-01T12:00:00Z' })] })
  expect(createTokenCheck(file, () => NOON).verify(bearer).kind).toBe(kind)
})

test('without a file nobody is known', () => {
  expect(createTokenCheck(null, () => NOON).verify('gs_a')).toEqual({ kind: 'unknown' })
})

test('a changed file is read again, after a second', () => {
  const file = aFile()
  let now = NOON
  const check = createTokenCheck(file, () => now)
  write(file, { tokens: [aToken('gs_a')] })
  now += 999
  expect(check.verify('gs_a').kind).toBe('unknown')
  now += 1
  expect(check.verify('gs_a').kind).toBe('ok')
  rmSync(file)
  now += 1_000
  expect(check.verify('gs_a').kind).toBe('unknown')
})

test('a file that becomes wrong is reported once and the last good one stays in use', () => {
  const file = aFile()
  write(file, { tokens: [aToken('gs_a')] })
  let now = NOON
  const complaints: (readonly string[])[] = []
  const check = createTokenCheck(
    file,
    () => now,
    (problems) => complaints.push(problems),
  )
  write(file, '{')
  for (let second = 0; second < 3; second += 1) {
    now += 1_000
    expect(check.verify('gs_a').kind).toBe('ok')
  }
  expect(complaints).toEqual([['expected JSON']])
})

test.each([
  ['no object', [], 'file: '],
  [
    'a short hash',
    { tokens: [aToken('a', { sha256: 'ab' })] },
    'tokens[0].sha256: expected 64 hexadecimal digits',
  ],
  ['no scope', { tokens: [aToken('a', { scopes: [] })] }, 'tokens[0].scopes: expected one at least'],
  [
    'a date without a time',
    { tokens: [aToken('a', { expires: '2027-01-01' })] },
    'tokens[0].expires: expected a time',
  ],
  ['a name twice', { tokens: [aToken('a'), aToken('a')] }, 'two tokens have the name a'],
])('%s in the file stops the start', (_, content, problem) => {
  const file = aFile()
  write(file, content)
  expect(() => createTokenCheck(file, () => NOON)).toThrow(`tokens/file_invalid (problems=${problem}`)
})
