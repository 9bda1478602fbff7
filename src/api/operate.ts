// Operators' actions over HTTP: `GET /v1/operate/NAME?…` looks, `POST /v1/operate/NAME` acts. The operator is the caller's
// token; the reason comes with the request.
import { Hono, type Context as Call } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import type { Operation } from '../operate/operation.ts'
import { OPERATIONS } from '../operate/operations.ts'
import type { Parts, Refusal } from '../operate/parts.ts'
import { undoing } from '../postgres/pool.ts'
import { problem, type Problem } from '../problem.ts'
import { allow, callerOf, type AuthParts, type Caller } from './auth.ts'
import { BODY_MAX_BYTES, badBody, isJson, jsonOf, notAllowed, problemsOf } from './body.ts'

/** What every acting request has besides the operation's own input. */
export const acting = z.object({
  reason: z.string().min(1).max(500).describe('Why, for the record.'),
  dry_run: z.boolean().default(false).describe('Shows what would happen; nothing does.'),
})

/** Routes of every operation. */
export const operateRoutes = (auth: AuthParts, parts: () => Parts): Hono<Caller> => {
  const limit = bodyLimit({ maxSize: BODY_MAX_BYTES, onError: () => problem('body_too_large') })
  const routes = new Hono<Caller>()
  for (const [name, any] of Object.entries(OPERATIONS)) {
    const operation = any as unknown as Operation<unknown, unknown>
    const path = `/v1/operate/${name}`
    if (operation.writes)
      routes
        .post(path, allow(auth, operation.scope), limit, (c) => act(c, parts(), operation))
        .all(path, () => notAllowed('POST'))
    else
      routes
        .get(path, allow(auth, operation.scope), (c) => look(c, parts(), operation))
        .all(path, () => notAllowed('GET, HEAD'))
  }
  return routes
}

const look = async (c: Call<Caller>, parts: Parts, operation: Operation<unknown, unknown>) => {
  const input = operation.input.safeParse(c.req.query())
  if (!input.success) return problem('bad_request', { detail: problemsOf(input.error) })
  return respond(await operation.run(parts, input.data, { operator: callerOf(c), reason: '' }))
}

const act = async (c: Call<Caller>, parts: Parts, operation: Operation<unknown, unknown>) => {
  if (!isJson(c.req.header('content-type'))) return problem('unsupported_media_type')
  const body = await jsonOf(c)
  const signed = acting.safeParse(body)
  if (!signed.success) return badBody(signed.error)
  const { reason: _reason, dry_run: _dryRun, ...rest } = body as Record<string, unknown>
  const input = operation.input.safeParse(rest)
  if (!input.success) return badBody(input.error)
  const { reason, dry_run: dryRun } = signed.data
  const at = dryRun ? { ...parts, database: undoing(parts.database), dryRun } : parts
  return respond(await operation.run(at, input.data, { operator: callerOf(c), reason }))
}

const PROBLEM_OF = {
  bad_request: 'bad_request',
  not_found: 'not_found',
  conflict: 'conflict',
  unavailable: 'unavailable',
} as const satisfies Record<Refusal['as'], Problem>

const respond = (answer: Awaited<ReturnType<Operation<unknown, unknown>['run']>>): Response =>
  answer.kind === 'refused'
    ? problem(PROBLEM_OF[answer.as], { detail: answer.message })
    : Response.json(
        { data: answer.data, found: answer.found ?? false },
        { headers: { 'cache-control': 'no-store' } },
      )
