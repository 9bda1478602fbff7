// What a log line may say of an error, and that a secret never prints.
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { AppError, exitCodeOf } from '../src/errors.ts'
import { createLog, type Log } from '../src/log.ts'
import { Secret } from '../src/secret.ts'

const linesOf = (write: (log: Log) => void): Record<string, unknown>[] => {
  const lines: string[] = []
  write(createLog({ level: 'debug', destination: { write: (line) => lines.push(line) } }))
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

const sqlError = () =>
  Object.assign(
    new Error('Key (email)=(a@b.c) exists', { cause: Object.assign(new Error('cus_1'), { code: '23505' }) }),
    {
      code: '23505',
      values: ['cus_1'],
    },
  )

test('of our own errors the message is logged, of others only name and code', () => {
  const [ours, theirs] = linesOf((log) => {
    log.error({ err: new AppError('postgres/busy', { waited_ms: 5 }) }, 'a')
    log.error({ err: sqlError() }, 'b')
  })
  expect(ours?.['err']).toEqual({
    name: 'AppError',
    code: 'postgres/busy',
    message: 'postgres/busy (waited_ms=5)',
  })
  expect(theirs?.['err']).toEqual({ name: 'Error', code: '23505', cause: { name: 'Error', code: '23505' } })
})

test.each<[string, (log: Log) => void]>([
  ['the error alone', (log) => log.error(sqlError())],
  ['an error without a message', (log) => log.error({ err: sqlError() })],
  ['an error under another name', (log) => log.warn({ failure: sqlError() }, 'x')],
  ['an error bound to a child', (log) => log.child({ err: sqlError() }).info('x')],
])('%s leaks neither message nor values', (_, write) => {
  expect(JSON.stringify(linesOf(write))).not.toMatch(/email|cus_1|a@b/)
})

test('lines carry level and time as words, and nothing of the machine', () => {
  expect(linesOf((log) => log.info({ event_id: 'evt_1' }, 'inbox.stored'))).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      event_id: 'evt_1',
      msg: 'inbox.stored',
    },
  ])
})

test('a secret prints as [secret] however it is printed', () => {
  const secret = new Secret('HUNTER2')
  const [line] = linesOf((log) => log.info({ secret }, 'x'))
  expect(
    [String(secret), JSON.stringify({ secret }), inspect({ secret }), JSON.stringify(line)].join(),
  ).not.toContain('HUNTER2')
  expect(secret.reveal()).toBe('HUNTER2')
})

test.each([
  [new AppError('schema/behind'), 6],
  [new AppError('postgres/no_answer'), 75],
  [new AppError('tokens/file_invalid'), 78],
  [new AppError('inbox/lost_race'), 1],
  [new Error('anything'), 1],
])('a command that ends with %s exits with %i', (error, code) => {
  expect(exitCodeOf(error)).toBe(code)
})
