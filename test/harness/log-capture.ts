// Everything that the service logs during the specs, in memory and in a file per process: a spec greps all of it for
// what must never be logged.
import { appendFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Of this run (global-setup.ts), so that two runs at once do not take it from each other.
export const LOG_FOLDER = process.env['GOODSTANDING_TEST_LOGS'] ?? join(tmpdir(), 'goodstanding-logs')
const FILE = join(LOG_FOLDER, `${process.pid}.log`)

const lines: string[] = []
mkdirSync(LOG_FOLDER, { recursive: true })

/** A destination for createLog. */
export const capturedLog = {
  write: (line: string) => {
    lines.push(line)
    appendFileSync(FILE, line)
  },
}

/** Lines of this process that carry a message, parsed. */
export const loggedLines = (message: string): Record<string, unknown>[] =>
  lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['msg'] === message)

/** All that this process logged, as text. */
export const loggedText = (): string => lines.join('')

export const forgetLog = () => lines.splice(0)
