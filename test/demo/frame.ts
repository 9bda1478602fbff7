// One picture of the demo: scene and window size in, lines of spans out. Pure; never wider or higher than the window.
import { clip, fit, type Span } from './paint.ts'
import type { Row, Scene, TenantLine } from './scene.ts'
import {
  describeAccess,
  describeCause,
  describeOutcome,
  describeTrip,
  stateOf,
  styleOfTrip,
} from './wording.ts'

export type Frame = Span[][]
export type Size = { columns: number; rows: number }

const DAY_MS = 86_400_000
const COLUMNS_MIN = 72
// Lines around the deliveries: title, months, story, two headings, counts; the last row stays free.
const AROUND = 7
const DELIVERIES_MIN = 5
// With so much room for deliveries, there is some for two blank lines.
const ROOMY = 9
const MARGIN = 1

export const fits = (size: Size, tenants: number): boolean =>
  size.columns >= COLUMNS_MIN && size.rows >= tenants + AROUND + DELIVERIES_MIN

export const drawFrame = (scene: Scene, { columns, rows }: Size): Frame => {
  const width = columns - 2 * MARGIN
  const room = rows - scene.tenants.length - AROUND
  const blank: Span[][] = room >= ROOMY ? [[]] : []
  const lines: Span[][] = [
    titleLine(scene, width),
    monthsLine(scene, width),
    storyLine(scene),
    tenantsHeading(scene),
    ...scene.tenants.map((tenant) => tenantLine(tenant, scene)),
    ...blank,
    deliveriesHeading(width),
    ...deliveryLines(scene, room - 2 * blank.length, width),
    ...blank,
    countsLine(scene, width),
  ]
  return lines.map((line) => [[' '.repeat(MARGIN)], ...clip(line, width)])
}

// `redelivered +3d, twice, out of order` and `customer.subscription.updated`, where there is room for them.
const CAME = { min: 22, max: 37 }
const TYPE = { min: 22, max: 31 }
const OUTCOME = 24
const TENANT = 8
const widthsOf = (width: number): { type: number; came: number } => {
  const type = Math.min(TYPE.max, Math.max(TYPE.min, width - CAME.min - OUTCOME - TENANT))
  return { type, came: Math.min(CAME.max, Math.max(CAME.min, width - type - OUTCOME - TENANT)) }
}
// The end says more than the beginning.
const shortType = (type: string, width: number) =>
  fit(type.length >= width ? type.replace(/^[^.]+\./, '…') : type, width - 1)

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const monthOf = (date: Date): string => MONTHS[date.getUTCMonth()] ?? ''

const titleLine = ({ day, start, days, tenants }: Scene, width: number): Span[] => {
  const date = new Date(start + day * DAY_MS)
  const written = `${date.getUTCDate()} ${monthOf(date)} ${date.getUTCFullYear()}`.padStart(11)
  const right = `day ${String(day).padStart(3)} of ${days}  ${written}`
  const name = 'goodstanding'
  const left = `  ${tenants.length} tenants, half a year, a bad post`
  return [[name, 'bold'], [fit(left, Math.max(0, width - name.length - right.length)), 'dim'], [right]]
}

// The bar is the months themselves: `Jun████Jul██░░Aug░░░░`.
const monthsLine = ({ start, day, days }: Scene, width: number): Span[] => {
  const done = Math.round((width * day) / days)
  const cells = Array.from({ length: width }, (_, index): string => (index < done ? '█' : '░'))
  const dates = Array.from({ length: days + 1 }, (_, each) => new Date(start + each * DAY_MS))
  const firsts = dates.flatMap((date, each) =>
    each === 0 || date.getUTCDate() === 1
      ? [{ label: monthOf(date), at: Math.round((width * each) / days) }]
      : [],
  )
  for (const [index, { label, at }] of firsts.entries()) {
    if ((firsts[index + 1]?.at ?? width) - at <= label.length) continue
    cells.splice(at, label.length, ...label.split(''))
  }
  return [
    [cells.slice(0, done).join(''), 'green'],
    [cells.slice(done).join(''), 'dim'],
  ]
}

const storyLine = ({ story, checked }: Scene): Span[] => {
  if (checked !== null)
    return checked.right
      ? [
          [
            '✔ every tenant is as an independent reading of Stripe expects, nothing pending, no dead letters',
            'green',
          ],
        ]
      : [['✘ something is not as an independent reading of Stripe expects', 'red']]
  return story.title === ''
    ? []
    : [
        [`day ${story.day}: `, 'dim'],
        [story.title, 'bold'],
      ]
}

// How long a change stays in sight.
const FRESH_DAYS = 4

const tenantsHeading = ({ checked }: Scene): Span[] => {
  const last = checked === null ? 'STORY' : 'CHECK'
  return [[`${fit('TENANT', 8)}${fit('PLAN', 8)}${fit('STATE', 13)}${fit('SEATS', 8)}${last}`, 'dim']]
}

const tenantLine = ({ id, story, access, last, verdict }: TenantLine, scene: Scene): Span[] => {
  const fresh = last !== null && scene.day - last.day <= FRESH_DAYS
  const { sign, style } = stateOf(access?.state ?? '')
  const state = access === null ? '' : `${sign} ${access.state}`
  return [
    [fit(id, 8), fresh ? 'bold' : 'plain'],
    [fit(access?.plan ?? 'not yet known', 8), access?.plan === 'free' || access === null ? 'dim' : 'plain'],
    [fit(state, 13), style],
    [`${(access?.seats == null ? '' : String(access.seats)).padStart(5)}   `],
    verdict === null ? noteOf({ story, last }, fresh) : verdictOf(verdict),
  ]
}

const noteOf = ({ story, last }: Pick<TenantLine, 'story' | 'last'>, fresh: boolean): Span => {
  if (!fresh || last === null) return [story, 'dim']
  const { before } = last.changed
  const was = before === null ? 'is new' : `was ${describeAccess(before)}`
  return [`← ${was}; ${describeCause(last.changed)}`, 'yellow']
}

const verdictOf = ({ right, expected }: NonNullable<TenantLine['verdict']>): Span =>
  right ? ['✔ as expected', 'green'] : [`✘ expected ${describeAccess(expected)}`, 'red']

const deliveriesHeading = (width: number): Span[] => {
  const { type, came } = widthsOf(width)
  return [[`${fit('EVENT', type)}${fit('TENANT', TENANT)}${fit('CAME', came)}CAUSED`, 'dim']]
}

const deliveryLines = ({ rows, day }: Scene, count: number, width: number): Span[][] => {
  const shown = rows.slice(-count).map((row) => deliveryLine(row, row.day === day, width))
  return [...shown, ...Array.from({ length: Math.max(0, count - shown.length) }, (): Span[] => [])]
}

const deliveryLine = (row: Row, today: boolean, width: number): Span[] => {
  const trip = describeTrip(row)
  const { type, came } = widthsOf(width)
  return [
    [`${shortType(row.type, type)} `, today ? 'plain' : 'dim'],
    [fit(row.tenant, TENANT), today ? 'plain' : 'dim'],
    [`${fit(trip === '' ? 'in order' : trip, came - 1)} `, styleOfTrip(trip)],
    describeOutcome(row),
  ]
}

const countsLine = ({ counts, outcomes }: Scene, width: number): Span[] => {
  const settled = [...outcomes.values()].reduce((sum, count) => sum + count, 0)
  const { tries, late, doubled, overtaken, lost, redelivered } = counts
  const all = `${tries} deliveries`
  const odd = `: ${late} late, ${doubled} twice, ${overtaken} out of order, ${lost} lost, ${redelivered} redelivered`
  const stale = `; ${outcomes.get('superseded') ?? 0} of ${settled} events outdated`
  const rest: Span[] = all.length + odd.length + stale.length <= width ? [[stale, 'dim']] : []
  return [[all, 'bold'], [odd], ...rest]
}
