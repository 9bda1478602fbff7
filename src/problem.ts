// Errors of the HTTP API as application/problem+json (RFC 9457): one table of codes, with status and meaning. Must
// never carry what an exception says: its text may quote data.
export const PROBLEMS = {
  bad_request: { status: 400, title: 'The request is not what is expected.' },
  body_too_large: { status: 413, title: 'The body is too large.' },
  conflict: { status: 409, title: 'The state is another one than the request assumes; nothing was changed.' },
  internal_error: { status: 500, title: 'Something went wrong here. It is in the log.' },
  method_not_allowed: { status: 405, title: 'This resource does not have that method.' },
  not_found: { status: 404, title: 'There is nothing here.' },
  scope_missing: { status: 403, title: 'The token may not do this.' },
  token_expired: { status: 401, title: 'The token has expired.' },
  token_missing: { status: 401, title: 'A bearer token is needed.' },
  token_unknown: { status: 401, title: 'The token is not known here.' },
  unavailable: { status: 503, title: 'The database is away or busy; try again.' },
  unknown_account: { status: 404, title: 'No Stripe account of that name is served here.' },
  unknown_tenant: { status: 404, title: 'No customer was ever linked to this tenant.' },
  unsupported_media_type: { status: 415, title: 'Send application/json.' },
  ambiguous_customer_linkage: {
    status: 409,
    title: 'The link would contradict another one; nothing was changed.',
  },
} as const satisfies Record<string, { status: number; title: string }>

export type Problem = keyof typeof PROBLEMS

export type ProblemDetail = { detail?: string; headers?: Record<string, string> }

/** A problem as a response. Errors are never kept by caches. */
export const problem = (code: Problem, { detail, headers = {} }: ProblemDetail = {}): Response => {
  const { status, title } = PROBLEMS[code]
  const body = {
    type: `urn:goodstanding:problem:${code}`,
    title,
    status,
    code,
    ...(detail !== undefined && { detail }),
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  })
}
