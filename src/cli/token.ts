// `token create`: makes an API token, prints it once on standard output, and keeps only its hash. The token must
// appear nowhere else.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { EXIT, type ExitCode } from '../exit.ts'
import { DAY_MS, toIso, type Instant } from '../time.ts'
import { hashToken, loadTokens, type Scope, type Token } from '../tokens.ts'
import type { Out } from './program.ts'

// 32 random bytes are 43 characters of base64url; the prefix lets secret scanners find a leaked one.
const TOKEN_BYTES = 32
const TOKEN_PREFIX = 'gs_'

export type TokenRequest = { name: string; scopes: Scope[]; days: number; file: string | null; now: Instant }

/** Creates a token; adds its hash to the file, or prints the entry to add where no file is configured. */
export const createToken = (request: TokenRequest, out: Out): ExitCode => {
  const bearer = TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')
  const entry: Token = {
    name: request.name,
    sha256: hashToken(bearer),
    scopes: [...new Set(request.scopes)],
    expires: toIso(request.now + request.days * DAY_MS) ?? '',
  }
  if (request.file === null) {
    out.problem('API_TOKENS_FILE is not set. Add this entry to the "tokens" of that file:')
    out.problem(JSON.stringify(entry))
  } else {
    const added = addToFile(request.file, entry)
    if (added.kind !== 'added') {
      out.problem(added.problem)
      return added.kind === 'conflict' ? EXIT.conflict : EXIT.failed
    }
    out.problem(
      `Added ${entry.name} to ${request.file}, valid until ${entry.expires}. It is shown only this once:`,
    )
  }
  out.result(bearer)
  return EXIT.ok
}

type Added = { kind: 'added' } | { kind: 'conflict' | 'failed'; problem: string }

// The new file is written beside the old one under a fixed name, which also keeps a second writer out, and put in
// its place in one step: a reader sees the old file or the new one.
const addToFile = (file: string, entry: Token): Added => {
  const next = `${file}.new`
  let descriptor: number
  try {
    descriptor = openSync(next, 'wx', 0o600)
  } catch (error) {
    const exists = codeOf(error) === 'EEXIST'
    const why = exists
      ? 'exists: another token is being added, or one attempt was cut off'
      : `cannot be written (${codeOf(error)})`
    return { kind: exists ? 'conflict' : 'failed', problem: `${next} ${why}` }
  }
  try {
    const loaded = loadTokens(file)
    if (loaded.kind === 'invalid') return give(next, 'failed', `${file}: ${loaded.problems.join('; ')}`)
    if (loaded.tokens.some(({ name }) => name === entry.name)) {
      return give(
        next,
        'conflict',
        `${file} has a token named ${entry.name}; remove it or choose another name`,
      )
    }
    keepOwner(file, descriptor)
    writeSync(descriptor, `${JSON.stringify({ tokens: [...loaded.tokens, entry] }, null, 2)}\n`)
    fsyncSync(descriptor)
    renameSync(next, file)
    return { kind: 'added' }
  } catch (error) {
    return give(next, 'failed', `${file} cannot be written (${codeOf(error)})`)
  } finally {
    closeSync(descriptor)
  }
}

const give = (next: string, kind: 'conflict' | 'failed', problem: string): Added => {
  rmSync(next, { force: true })
  return { kind, problem }
}

// The service, which may be another user, must still be able to read it.
const keepOwner = (file: string, descriptor: number) => {
  const old = statSync(file, { throwIfNoEntry: false })
  if (old === undefined) return
  fchmodSync(descriptor, old.mode & 0o777)
  if (old.uid !== process.getuid?.() || old.gid !== process.getgid?.())
    fchownSync(descriptor, old.uid, old.gid)
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
