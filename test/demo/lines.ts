// The demo without a terminal: plain lines, one after the other, no cursor movement. A day is written when it is over;
// ordinary deliveries are counted, odd ones are shown one by one.
import type { Moment, Tell } from './moments.ts'
import { fit, type Paint } from './paint.ts'
import { emptyScene, follow, type Row, type Scene } from './scene.ts'
import {
  describeAccess,
  describeCause,
  describeLedger,
  describeOutcome,
  describeTrip,
  stateOf,
} from './wording.ts'

type Write = (line: string) => void

/** Tells moments as lines. */
export const openLines = (write: Write, paint: Paint): Tell => {
  const scene = emptyScene()
  return (moment) => {
    if (moment.kind === 'day' || moment.kind === 'checked') writeDay(scene, write, paint)
    follow(scene, moment)
    if (moment.kind === 'began') {
      const from = new Date(moment.start).toISOString().slice(0, 10)
      write(`${moment.tenants.length} tenants, ${moment.days} days from ${from}`)
    }
    if (moment.kind === 'story')
      write(`\n${paint([`day ${String(moment.day).padStart(3)}  ${moment.title}`, 'bold'])}`)
    if (moment.kind === 'checked') for (const line of checkLines(moment, paint)) write(line)
  }
}

const writeDay = (scene: Scene, write: Write, paint: Paint) => {
  const rows = scene.rows.filter(({ day }) => day === scene.day)
  const odd = rows.filter((row) => describeTrip(row) !== '' || row.changed.length > 0 || row.settled === null)
  const label = `  ${String(scene.day).padStart(5)}  `
  for (const row of odd) write(label + rowLine(row, paint))
  for (const changed of scene.quiet) {
    const { sign, style } = stateOf(changed.after.state)
    const access = paint([`${sign} ${describeAccess(changed.after)}`, style])
    write(`${label}${fit(changed.tenant, 6)}${access}, ${describeCause(changed)}`)
  }
  const ordinary = rows.filter((row) => !odd.includes(row))
  if (ordinary.length > 0)
    write(label + paint([`${ordinary.length} more in order: ${countOutcomes(ordinary)}`, 'dim']))
}

const rowLine = (row: Row, paint: Paint): string => {
  const trip = describeTrip(row)
  return `${fit(row.tenant, 6)}${fit(row.type, 41)}${paint(describeOutcome(row))}${trip === '' ? '' : ` (${trip})`}`
}

const countOutcomes = (rows: readonly Row[]): string => {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const [outcome] = describeOutcome(row)
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ')
}

const checkLines = ({ verdicts, ledger, right }: Moment & { kind: 'checked' }, paint: Paint): string[] => [
  '',
  paint(['Check: every tenant against an independent reading of the simulated Stripe', 'bold']),
  ...verdicts.map(({ tenant, expected, actual, right: same }) => {
    const got = `  ${fit(tenant, 6)}${fit(describeAccess(actual), 28)}`
    return same
      ? `${got}${paint(['as expected', 'green'])}`
      : `${got}${paint([`WRONG, expected ${describeAccess(expected)}`, 'red'])}`
  }),
  '',
  ...describeLedger(ledger).map((line) => `  ${line}`),
  `  ${right ? paint(['All is as it should be.', 'green']) : paint(['Something is not as it should be.', 'red'])}`,
]
