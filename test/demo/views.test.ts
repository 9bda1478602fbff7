// Both views of the demo, fed with moments by hand: what a person must be able to see, and what a window can hold.
import { PassThrough } from 'node:stream'
import { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import { expect, test, vi } from 'vitest'
import { drawFrame, fits } from './frame.ts'
import { openLines } from './lines.ts'
import type { Moment, Tried } from './moments.ts'
import { paintFor, withColour, withoutColour } from './paint.ts'
import { emptyScene, follow } from './scene.ts'
import { openScreen, textOf, type Terminal } from './screen.ts'
import { TENANTS } from './stories.ts'

const ESC = '\u001B'
const WINDOW = { columns: 80, rows: 24 }
const about = { eventId: 'evt_1', type: 'customer.subscription.updated', tenant: 'acme' }
const free = { plan: 'free', state: 'ended', seats: null }
const pro = { plan: 'pro', state: 'active', seats: 10 }

const tried = (how: Partial<Tried>): Moment => ({
  kind: 'tried',
  tried: {
    ...about,
    day: 3,
    status: 200,
    redelivered: false,
    doubled: false,
    overtaken: false,
    daysLate: 0,
    ...how,
  },
})
const settled = (outcome: string, reason: string | null = null, eventId = about.eventId): Moment => ({
  kind: 'settled',
  settled: { ...about, eventId, outcome, reason },
})
const ledger = { events: 8, deliveries: 9, read: 8, superseded: 1, pending: 0, dead: 0 }

const STORY: Moment[] = [
  { kind: 'began', start: Date.UTC(2026, 5, 1), days: 180, tenants: TENANTS },
  { kind: 'day', day: 3 },
  { kind: 'story', day: 3, title: 'acme upgrades' },
  tried({ status: null }),
  tried({ eventId: 'evt_2', redelivered: true, daysLate: 2 }),
  tried({ eventId: 'evt_2', doubled: true }),
  settled('superseded', 'superseded_by_live_state', 'evt_2'),
  tried({ eventId: 'evt_3', overtaken: true }),
  settled('waiting', 'customer_not_linked', 'evt_3'),
  tried({ eventId: 'evt_4', daysLate: 1 }),
  {
    kind: 'changed',
    changed: { tenant: 'acme', before: free, after: pro, cause: { ...about, eventId: 'evt_4' } },
  },
  settled('applied', null, 'evt_4'),
  { kind: 'changed', changed: { tenant: 'dune', before: pro, after: free, cause: 'time' } },
]
const END: Moment = {
  kind: 'checked',
  verdicts: TENANTS.map(({ id }) => ({ tenant: id, expected: pro, actual: pro, right: id !== 'kite' })),
  ledger,
  right: false,
}

const sceneOf = (moments: readonly Moment[]) => {
  const scene = emptyScene()
  for (const moment of moments) follow(scene, moment)
  return scene
}
const shown = (moments: readonly Moment[], size = WINDOW) =>
  textOf(drawFrame(sceneOf(moments), size), withoutColour).replaceAll(`${ESC}[K`, '')

const linesOf = (moments: readonly Moment[], paint = withoutColour): string => {
  const lines: string[] = []
  const tell = openLines((line) => lines.push(line), paint)
  for (const moment of moments) tell(moment)
  return lines.join('\n')
}

test.each([
  [80, 24],
  [72, 24],
  [100, 30],
  [200, 60],
])('a frame fits a window of %i by %i, and leaves the last row free', (columns, rows) => {
  const lines = shown([...STORY, END], { columns, rows })
    .split('\n')
    .slice(0, -1)

  expect(lines).toHaveLength(rows - 1)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(columns)
})

test('a window that is too small for the tenants is not drawn into', () => {
  expect(fits({ columns: 80, rows: 24 }, TENANTS.length)).toBe(true)
  expect(fits({ columns: 60, rows: 24 }, TENANTS.length)).toBe(false)
  expect(fits({ columns: 80, rows: 23 }, TENANTS.length)).toBe(false)
})

test.each([
  ['the story', 'acme upgrades'],
  ['the date', '4 Jun 2026'],
  ['a lost delivery', /acme +lost +Stripe will try again/],
  ['a redelivered one that came twice, and was outdated', /redelivered \+2d, twice +outdated on arrival/],
  ['one that was overtaken, and waits', /out of order +waits: customer not linked/],
  ['what a late one caused', /late \+1d +→ pro active, 10 seats/],
  ['what was before', 'was free ended; by customer.subscription.updated'],
  ['what time did', 'was pro active, 10 seats; by time alone'],
  ['the counts', '5 deliveries: 1 late, 1 twice, 1 out of order, 1 lost, 1 redelivered'],
])('the screen shows %s', (_what, text) => {
  expect(shown(STORY, { columns: 130, rows: 30 })).toMatch(text)
})

test('the screen ends with the verdict on each tenant', () => {
  const text = shown([...STORY, END])

  expect(text).toContain('✘ something is not as')
  expect(text.match(/✔ as expected/g)).toHaveLength(11)
  expect(text).toMatch(/kite .*✘ expected pro active, 10 seats/)
})

test.each([
  ['the story', 'day   3  acme upgrades'],
  ['a lost delivery', /Stripe will try again \(lost\)/],
  ['a redelivered one that came twice', /outdated on arrival \(redelivered \+2d, twice\)/],
  ['one that waits', /waits: customer not linked \(out of order\)/],
  ['what a late one caused', /→ pro active, 10 seats \(late \+1d\)/],
  ['what time did', /dune +× free ended, by time alone/],
  ['the verdict', /kite +pro active, 10 seats +WRONG, expected pro active, 10 seats/],
  ['the ledger', '8 events in 9 deliveries: 8 compared with Stripe, 1 outdated on arrival'],
])('the plain lines tell %s', (_what, text) => {
  expect(linesOf([...STORY, END])).toMatch(text)
})

test('plain lines count what came in order', () => {
  const day = [
    tried({}),
    settled('applied'),
    tried({ eventId: 'evt_9' }),
    settled('no_change', null, 'evt_9'),
  ]

  expect(linesOf([...STORY.slice(0, 3), ...day, { kind: 'day', day: 4 }])).toContain(
    '2 more in order: 1 applied, 1 confirms what we have',
  )
})

test('without colour there is no escape code in the lines, and with it only colours', () => {
  expect(linesOf([...STORY, END])).not.toContain(ESC)
  expect(stripVTControlCharacters(linesOf([...STORY, END], withColour))).toBe(linesOf([...STORY, END]))
  expect(linesOf([...STORY, END], withColour).replaceAll(/\[\d+m/g, '')).not.toContain('[')
})

test.each([
  ['a terminal', true, {}, true],
  ['a terminal under NO_COLOR', true, { NO_COLOR: '1' }, false],
  ['a dumb terminal', true, { TERM: 'dumb' }, false],
  ['a pipe', false, {}, false],
  ['a pipe under FORCE_COLOR', false, { FORCE_COLOR: '1' }, true],
])('%s (a terminal: %s, %j) is painted: %s', (_what, isTTY, env, painted) => {
  // CI services have colours of their own, which node knows by their variables.
  const others = ['CI', 'GITHUB_ACTIONS', 'GITLAB_CI', 'TF_BUILD', 'TEAMCITY_VERSION', 'COLORTERM', 'TMUX']
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', ...others])
    vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries({ TERM: 'xterm-256color', ...env })) vi.stubEnv(name, value)
  const stream = Object.assign(new PassThrough(), {
    isTTY,
    getColorDepth: () => WriteStream.prototype.getColorDepth(process.env),
  })

  const text = paintFor(stream as unknown as NodeJS.WriteStream)(['x', 'red'])

  vi.unstubAllEnvs()
  expect(text.includes(ESC)).toBe(painted)
})

test('the screen draws in place, and gives the cursor back once', () => {
  const written: string[] = []
  const terminal = { ...WINDOW, write: (text: string) => written.push(text), on: () => {}, off: () => {} }
  const screen = openScreen(terminal as unknown as Terminal, withoutColour)

  for (const moment of STORY) screen.tell(moment)
  screen.close()
  screen.close()

  const all = written.join('')
  expect(all.startsWith(`${ESC}[?25l`)).toBe(true)
  expect(all.split(`${ESC}[?25h`)).toHaveLength(2)
  expect(all).toContain('acme upgrades')
})
