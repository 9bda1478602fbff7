// Runs after all other specs: nothing of what the service logged during them is private.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LOG_FOLDER } from '../harness/log-capture.ts'

const logs = globSync('*.log', { cwd: LOG_FOLDER }).map((file) =>
  readFileSync(join(LOG_FOLDER, file), 'utf8'),
)
const lines = logs.flatMap((text) => text.split('\n').filter((line) => line !== ''))

test.each([
  ['signing secret', /whsec_/],
  ['API key', /\b[sr]k_(test|live)_/],
  ['API token', /\bgs_[\w-]{20,}/],
  ['signature', /\bv1=|\b[0-9a-f]{64}\b/],
  ['customer id', /\bcus_/],
  ['subscription, invoice, charge or payment method', /\b(sub|in|ch|pi|pm|card|si)_[A-Za-z0-9]{6,}/],
  ['e-mail address', /[\w.]+@[\w-]+\.[a-z]{2,}/],
  ['card number', /\b\d{13,19}\b/],
  ['payload', /"object"\s*:|\\"object\\"|"payload"/],
  ['tenant', /tenant_\d|"tenant/],
  ['database password', /postgres:\/\//],
])('no log line has a %s', (_what, pattern) => {
  expect(lines.filter((line) => pattern.test(line)).slice(0, 3)).toEqual([])
})

// A run of one file by hand logs less.
test.runIf(process.env['CI'] !== undefined)('the specs logged enough for that to mean something', () => {
  expect(lines.length).toBeGreaterThan(1_000)
  const messages = new Set(lines.map((line) => (JSON.parse(line) as { msg: string }).msg))
  for (const message of [
    'inbox.receive',
    'inbox.process',
    'inbox.dead_letter',
    'worker.stripe_reconciliation',
    'http.request',
  ]) {
    expect(messages).toContain(message)
  }
})
