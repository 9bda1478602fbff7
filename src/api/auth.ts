// Who calls the API and what they may: bearer tokens with scopes. Every denial is recorded, never the token.
import type { Context as Call, MiddlewareHandler } from 'hono'
import type { Context } from '../context.ts'
import { problem, type Problem } from '../problem.ts'
import type { Scope, TokenCheck } from '../tokens.ts'
import type { Denials } from './denials.ts'

export type AuthParts = Pick<Context, 'tokens'> & { denials: Denials }

/** The caller's token by name, set for those who passed. */
export type Caller = { Variables: { caller: string } }

/** Lets pass who has the scope. */
export const allow =
  ({ tokens, denials }: AuthParts, scope: Scope): MiddlewareHandler<Caller> =>
  async (c, next) => {
    const verified = verify(tokens, c.req.header('authorization'), scope)
    if (verified.kind === 'denied') {
      denials.note({ token: verified.token, scope, why: verified.why })
      return problem(verified.why, verified.answer)
    }
    c.set('caller', verified.name)
    return next()
  }

type Verified =
  | { kind: 'ok'; name: string }
  | {
      kind: 'denied'
      token: string | null
      why: Problem
      answer: { detail?: string; headers: Record<string, string> }
    }

const verify = (tokens: TokenCheck, header: string | undefined, scope: Scope): Verified => {
  const bearer = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  if (bearer === undefined) return denied(null, 'token_missing', challenge(''))
  const verified = tokens.verify(bearer)
  switch (verified.kind) {
    case 'unknown':
      return denied(null, 'token_unknown', challenge(', error="invalid_token"'))
    case 'expired':
      return denied(null, 'token_expired', challenge(', error="invalid_token", error_description="expired"'))
    case 'ok':
      return verified.scopes.includes(scope)
        ? { kind: 'ok', name: verified.name }
        : denied(verified.name, 'scope_missing', {
            detail: `needs the scope ${scope}`,
            ...challenge(`, error="insufficient_scope", scope="${scope}"`),
          })
  }
}

const denied = (
  token: string | null,
  why: Problem,
  answer: { detail?: string; headers: Record<string, string> },
): Verified => ({ kind: 'denied', token, why, answer })

const challenge = (rest: string) => ({
  headers: { 'www-authenticate': `Bearer realm="goodstanding"${rest}` },
})

/** The name of the caller's token, as operator of what it does. */
export const callerOf = (c: Call<Caller>): string => `token:${c.get('caller')}`
