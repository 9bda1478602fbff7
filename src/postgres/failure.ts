// What a failed statement or connection means, looking through slonik's wrappers.
import { AppError } from '../errors.ts'

const LOST_NAMES = new Set([
  'BackendTerminatedError',
  'BackendTerminatedUnexpectedlyError',
  'IdleTransactionTimeoutError',
  'ConnectionError',
])
const LOST_CODES = /^(08|57P0|53300|25P03|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/

/** Did the connection, rather than the statement, fail? Then nothing is known to be wrong with the work. */
export const isConnectionLoss = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  if (error instanceof AppError) return error.code === 'postgres/no_answer' || error.code === 'postgres/busy'
  if (LOST_NAMES.has(error.name) || LOST_NAMES.has(error.constructor.name)) return true
  const code = sqlState(error)
  return (
    (code !== null && LOST_CODES.test(code)) ||
    /Client (is|was)|Connection terminated|pending destroy/.test(error.message)
  )
}

/** SQLSTATE (or Node's error code) of an error, looking through slonik's wrappers. */
export const sqlState = (error: unknown): string | null => {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return null
}
