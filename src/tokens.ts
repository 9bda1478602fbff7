// API tokens: a file of SHA-256 hashes with name, scopes and expiry. The token itself is never stored or logged.
// The file may change while we run (a token is added or revoked); it is looked at once a second at most.
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { AppError } from './errors.ts'
import { SECOND_MS, type Instant } from './time.ts'

export const SCOPES = ['read', 'explain', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

const token = z.strictObject({
  name: z.string().regex(/^[\w.@-]{1,64}$/, 'expected letters, digits, . _ @ and -, at most 64'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hexadecimal digits'),
  scopes: z.array(z.enum(SCOPES, `expected ${SCOPES.join(', ')}`)).min(1, 'expected one at least'),
  expires: z.iso.datetime('expected a time such as 2027-01-31T00:00:00Z'),
})
export type Token = z.infer<typeof token>

// A service has a handful of callers; each is compared on each request.
const TOKENS_MAX = 1_000
const tokensFile = z.strictObject({ tokens: z.array(token).max(TOKENS_MAX) })

export type LoadedTokens = { kind: 'tokens'; tokens: Token[] } | { kind: 'invalid'; problems: string[] }

/** Reads a token file. A file that does not exist holds no token. */
export const loadTokens = (file: string): LoadedTokens => {
  let json: unknown
  try {
    json = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return { kind: 'tokens', tokens: [] }
    return { kind: 'invalid', problems: [error instanceof SyntaxError ? 'expected JSON' : 'cannot be read'] }
  }
  const parsed = tokensFile.safeParse(json)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${z.core.toDotPath(issue.path) || 'file'}: ${issue.message}`,
    )
    return { kind: 'invalid', problems }
  }
  const { tokens } = parsed.data
  const twice = tokens.filter(({ name }, index) => tokens.findIndex((other) => other.name === name) !== index)
  if (twice.length > 0)
    return { kind: 'invalid', problems: twice.map(({ name }) => `two tokens have the name ${name}`) }
  return { kind: 'tokens', tokens }
}

export type Verified =
  | { kind: 'ok'; name: string; scopes: readonly Scope[] }
  | { kind: 'unknown' }
  | { kind: 'expired' }
export type TokenCheck = { verify: (bearer: string) => Verified }

// Ours have 46 characters; nothing longer is worth a hash.
const BEARER_MAX = 512

/**
 * Checks bearer tokens against the file; without one, nobody is known. Throws `tokens/file_invalid` if the file is
 * wrong at start. One that becomes wrong later is reported to `complain`, and the last good one stays in use.
 */
export const createTokenCheck = (
  file: string | null,
  now: () => Instant,
  complain: (problems: readonly string[]) => void = () => {},
): TokenCheck => {
  let tokens: readonly Token[] = []
  let stamp = ''
  let lookedAt = Number.NEGATIVE_INFINITY
  const refresh = (path: string, onInvalid: (problems: readonly string[]) => void) => {
    lookedAt = now()
    const seen = stampOf(path)
    if (seen === stamp) return
    stamp = seen
    const loaded = loadTokens(path)
    if (loaded.kind === 'tokens') tokens = loaded.tokens
    else onInvalid(loaded.problems)
  }
  if (file !== null) {
    refresh(file, (problems) => {
      throw new AppError('tokens/file_invalid', { problems: problems.join('; ') })
    })
  }
  return {
    verify: (bearer) => {
      if (file !== null && Math.abs(now() - lookedAt) >= SECOND_MS) refresh(file, complain)
      return bearer.length > BEARER_MAX ? { kind: 'unknown' } : verifyAgainst(tokens, bearer, now())
    },
  }
}

const stampOf = (file: string): string => {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? 'missing' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}

/** What is stored of a token. */
export const hashToken = (bearer: string): string => createHash('sha256').update(bearer).digest('hex')

// Every entry is compared, so that the time taken tells nothing.
const verifyAgainst = (tokens: readonly Token[], bearer: string, at: Instant): Verified => {
  const hash = Buffer.from(hashToken(bearer), 'hex')
  let found: Token | null = null
  for (const candidate of tokens) {
    if (timingSafeEqual(hash, Buffer.from(candidate.sha256, 'hex'))) found = candidate
  }
  if (found === null) return { kind: 'unknown' }
  if (Date.parse(found.expires) <= at) return { kind: 'expired' }
  return { kind: 'ok', name: found.name, scopes: found.scopes }
}
