// Stripe's error envelope. Business verbs and HTTP handlers throw the same error: over HTTP it becomes a
// response, in a test it is an ordinary exception with a readable message.

export type ErrorBody = {
  type: string
  code?: string
  message: string
  param?: string
  decline_code?: string
  advice_code?: string
  network_decline_code?: string
}
export type ApiError = Error & { httpStatus: number; body: ErrorBody }

export const apiError = (httpStatus: number, body: ErrorBody): ApiError =>
  Object.assign(new Error(body.message), { httpStatus, body })

export const isApiError = (error: unknown): error is ApiError =>
  error instanceof Error && 'httpStatus' in error && 'body' in error

export const missing = (object: string, id: string, param = 'id'): ApiError =>
  apiError(404, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${object}: '${id}'`,
    param,
  })

export const invalid = (message: string, param?: string, code?: string): ApiError =>
  apiError(400, {
    type: 'invalid_request_error',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  })

/** A card that is refused, as recorded: `param: ""` included. */
export const declined = () =>
  apiError(402, {
    type: 'card_error',
    code: 'card_declined',
    decline_code: 'generic_decline',
    advice_code: 'try_again_later',
    network_decline_code: '01',
    message: 'Your card was declined.',
    param: '',
  })

export const wrongParameter = ({
  param,
  kind,
}: {
  param: string
  kind: 'invalid' | 'missing' | 'unknown'
}): ApiError => {
  if (kind === 'unknown') return invalid(`Received unknown parameter: ${param}`, param, 'parameter_unknown')
  if (kind === 'missing') return invalid(`Missing required param: ${param}.`, param, 'parameter_missing')
  return invalid(`Invalid ${param}`, param)
}

/** What Stripe says in general failures; also what injected faults say. */
export const FAILURES = {
  401: () => apiError(401, { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_****' }),
  403: () =>
    apiError(403, {
      type: 'invalid_request_error',
      code: 'secret_key_required',
      message: 'The provided key does not have the required permissions for this endpoint.',
    }),
  404: () =>
    apiError(404, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: 'No such object',
      param: 'id',
    }),
  429: () =>
    apiError(429, { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests' }),
  500: () => apiError(500, { type: 'api_error', message: 'An unknown error occurred' }),
  503: () => apiError(503, { type: 'api_error', message: 'Stripe is unavailable, please retry' }),
} as const

// As recorded: sorted, with where to read on; a wrong key gets no link to a log.
export const errorText = (error: ApiError, requestId: string): string => {
  const { code } = error.body
  const links = {
    ...(code === undefined
      ? {}
      : { doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }),
    ...(error.httpStatus === 401
      ? {}
      : { request_log_url: `https://dashboard.stripe.com/test/workbench/logs?object=${requestId}` }),
  }
  const entries = Object.entries({ ...error.body, ...links }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify({ error: Object.fromEntries(entries) }, null, 2)
}

// A bug of the simulator: say so loudly instead of looking like a Stripe outage.
export const unexpected = (error: unknown): ApiError =>
  apiError(501, {
    type: 'api_error',
    message: `stripe-sim bug: ${error instanceof Error ? error.stack : String(error)}`,
  })
