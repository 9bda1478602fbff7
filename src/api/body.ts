// What the API's routes have in common when they read a request: JSON bodies of bounded size, and complaints that name
// paths and expectations, never values.
import type { Context as Call } from 'hono'
import type { z } from 'zod'
import { problem } from '../problem.ts'

// Everything that is sent here has a few short fields.
export const BODY_MAX_BYTES = 16_384

export const notAllowed = (methods: string) => problem('method_not_allowed', { headers: { allow: methods } })

export const isJson = (header: string | undefined): boolean =>
  header?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'

/** The parsed body; undefined, which fails every schema, where it is no JSON. */
export const jsonOf = async (c: Pick<Call, 'req'>): Promise<unknown> => {
  try {
    return JSON.parse(await c.req.text()) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

export const badBody = (error: z.ZodError) => problem('bad_request', { detail: problemsOf(error) })

/** Paths and expectations only: a value may be anything. */
export const problemsOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map(
      ({ path, message, code }) =>
        `${path.join('.') || 'body'}: ${code === 'unrecognized_keys' ? 'has unknown fields' : message}`,
    )
    .join('; ')
