// What both views know of the demo so far: a fold over its moments. Draws nothing.
import type { Access, Changed, Ledger, Moment, Settled, Tried, Verdict } from './moments.ts'

/** An event on one day: how often it came, how it ended, whom it changed. */
export type Row = {
  eventId: string
  type: string
  tenant: string
  day: number
  tries: Tried[]
  settled: Settled | null
  changed: Changed[]
}

export type TenantLine = {
  id: string
  story: string
  access: Access | null
  last: { changed: Changed; day: number } | null
  verdict: Verdict | null
}

export type Scene = {
  start: number
  days: number
  day: number
  story: { day: number; title: string }
  tenants: TenantLine[]
  /** The newest last; the oldest are forgotten. */
  rows: Row[]
  /** Changes of today that no event of today caused. */
  quiet: Changed[]
  counts: {
    tries: number
    late: number
    doubled: number
    overtaken: number
    lost: number
    redelivered: number
  }
  outcomes: Map<string, number>
  checked: { ledger: Ledger; right: boolean } | null
}

// More than the largest window shows and the busiest day brings.
const ROWS_MAX = 300

export const emptyScene = (): Scene => ({
  start: 0,
  days: 1,
  day: 0,
  story: { day: 0, title: '' },
  tenants: [],
  rows: [],
  quiet: [],
  counts: { tries: 0, late: 0, doubled: 0, overtaken: 0, lost: 0, redelivered: 0 },
  outcomes: new Map(),
  checked: null,
})

/** Takes a moment into the scene. */
export const follow = (scene: Scene, moment: Moment): void => {
  switch (moment.kind) {
    case 'began':
      scene.start = moment.start
      scene.days = moment.days
      scene.tenants = moment.tenants.map((each) => ({ ...each, access: null, last: null, verdict: null }))
      return
    case 'day':
      scene.day = moment.day
      scene.quiet = []
      return
    case 'story':
      scene.story = { day: moment.day, title: moment.title }
      return
    case 'tried':
      rowOf(scene, moment.tried).tries.push(moment.tried)
      count(scene, moment.tried)
      return
    case 'settled':
      rowOf(scene, moment.settled).settled = moment.settled
      if (moment.settled.outcome !== 'waiting') add(scene.outcomes, moment.settled.outcome)
      return
    case 'changed':
      change(scene, moment.changed)
      return
    case 'checked':
      scene.checked = moment
      for (const verdict of moment.verdicts) {
        const line = scene.tenants.find(({ id }) => id === verdict.tenant)
        if (line !== undefined) line.verdict = verdict
      }
  }
}

const rowOf = (scene: Scene, about: { eventId: string; type: string; tenant: string }): Row => {
  const { eventId, type, tenant } = about
  const found = scene.rows.findLast((row) => row.eventId === eventId && row.day === scene.day)
  if (found !== undefined) return found
  const row: Row = { eventId, type, tenant, day: scene.day, tries: [], settled: null, changed: [] }
  scene.rows = [...scene.rows, row].slice(-ROWS_MAX)
  return row
}

const count = ({ counts }: Scene, { status, daysLate, redelivered, doubled, overtaken }: Tried) => {
  counts.tries += 1
  if (status === null) counts.lost += 1
  else if (doubled) counts.doubled += 1
  else if (redelivered) counts.redelivered += 1
  else if (daysLate > 0) counts.late += 1
  if (overtaken) counts.overtaken += 1
}

const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

const change = (scene: Scene, changed: Changed) => {
  const line = scene.tenants.find(({ id }) => id === changed.tenant)
  if (line !== undefined) {
    line.access = changed.after
    line.last = { changed, day: scene.day }
  }
  const { cause, tenant } = changed
  if (typeof cause === 'string') scene.quiet.push(changed)
  else rowOf(scene, { ...cause, tenant }).changed.push(changed)
}
