// The process's log: JSON lines with snake_case fields. The only user of pino. Of an error it writes name and code,
// and the message only where we wrote that ourselves: other people's messages quote payloads, ids and SQL values.
import {
  pino,
  stdTimeFunctions,
  type DestinationStream,
  type LogFn,
  type Logger,
  type LoggerOptions,
} from 'pino'
import { AppError } from './errors.ts'

export type Log = Logger
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type LogOptions = {
  level: LogLevel
  destination?: DestinationStream
  /** Called for each line that a person should see, with its code. */
  onAlert?: (code: string) => void
}

/** What is written of an error. */
type LoggedError = { name: string; code: string | null; message?: string; cause?: LoggedError }

/** Opens the log; standard output unless a destination is given. */
export const createLog = ({ level, destination, onAlert = () => {} }: LogOptions): Log => {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields) => {
        if (typeof fields['alert'] === 'string') onAlert(fields['alert'])
        return withoutErrors(fields)
      },
    },
    // Pino's own would write message and stack.
    serializers: { err: (value: unknown) => (value instanceof Error ? describeError(value) : value) },
    hooks: { logMethod: nameTheLine },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/** The allow-listed facts of an error, at most one cause deep. */
const describeError = (error: Error, depth = 1): LoggedError => ({
  name: plainWord(error.name) ?? 'Error',
  code: 'code' in error ? plainWord(error.code) : null,
  ...(error instanceof AppError && { message: error.message }),
  ...(depth > 0 && error.cause instanceof Error && { cause: describeError(error.cause, depth - 1) }),
})

// A name or code is a short word (23505, ECONNRESET, inbox/lost_race); anything else may carry data.
const plainWord = (value: unknown): string | null =>
  typeof value === 'string' && /^[\w/.-]{1,64}$/.test(value) ? value : null

// An error under any name: its own fields would be written otherwise, and slonik's carry the statement's values.
const withoutErrors = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? describeError(value) : value,
    ]),
  )

// Without a message pino takes the error's own.
function nameTheLine(this: Logger, args: Parameters<LogFn>, method: LogFn) {
  const [first, ...rest] = args as unknown[]
  const fields = first instanceof Error ? { err: first } : first
  const line = typeof fields === 'object' && rest[0] === undefined ? [fields, 'unnamed'] : [fields, ...rest]
  Reflect.apply(method, this, line)
}
