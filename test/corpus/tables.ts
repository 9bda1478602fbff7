// What the corpus run found, as the Markdown tables that stand in test/README.md and are printed on a terminal.
import type { Outcome, Replayed } from './exchanges.ts'
import type { RecordedObject } from './objects.ts'
import type { Verdict } from './understand.ts'

export type Judged = RecordedObject & { verdict: Verdict }

/** Rows of the list of differences that the README shows; all of them are printed. */
const TOP = 12

/** One row for each API version, oldest first; what says no version comes last. */
export const objectsTable = (judged: Judged[]): string => {
  const versions = [...new Set(judged.map(({ version }) => version))].toSorted(
    (a, b) => Number(a === '') - Number(b === '') || (a < b ? -1 : 1),
  )
  const row = (name: string, of: Judged[], why: string) => [
    name,
    String(of.filter(({ kind }) => kind === 'subscription').length),
    String(of.filter(({ kind }) => kind === 'invoice').length),
    String(of.filter(({ verdict }) => verdict.kind === 'understood').length),
    why,
  ]
  return table(
    ['API version', 'subscriptions', 'invoices', 'understood', 'not understood and why'],
    [
      ...versions.map((version) => {
        const of = judged.filter((each) => each.version === version)
        return row(version === '' ? '(not said)' : version, of, refusals(of))
      }),
      row('all', judged, String(judged.filter(({ verdict }) => verdict.kind !== 'understood').length)),
    ],
  )
}

/** Of the recorded exchanges: how many the double could be held to, and where it differs most. */
export const exchangesTable = (replayed: Replayed[], top = TOP): string => {
  const of = (kind: string) => replayed.filter(({ outcome }) => outcome.kind === kind).length
  const richer = replayed.filter(({ outcome }) => isRicher(outcome)).length
  return [
    table(
      ['exchanges', 'comparable', 'equal', 'only more fields', 'different', 'not comparable'],
      [
        [
          replayed.length,
          of('equal') + of('differs'),
          of('equal'),
          richer,
          of('differs') - richer,
          of('not_comparable'),
        ].map(String),
      ],
    ),
    differencesTable('difference of the double', replayed, { isExtra: false, top }),
    differencesTable('field that only the double has', replayed, { isExtra: true, top }),
  ].join('\n\n')
}

/** The double answers as its newest version does: what recordings of an older one lack is no error of its own. */
const isRicher = (outcome: Outcome): boolean =>
  outcome.kind === 'differs' && outcome.differences.every(({ kind }) => kind === 'extra')

type Listing = { isExtra: boolean; top: number }

const differencesTable = (head: string, replayed: Replayed[], { isExtra, top }: Listing): string => {
  const found = replayed.flatMap(({ file, outcome }) =>
    (outcome.kind === 'differs' ? outcome.differences : [])
      .filter(({ kind }) => (kind === 'extra') === isExtra)
      .map(({ kind, at }) => ({ file, what: isExtra ? `\`${at}\`` : `${kind}: \`${at}\`` })),
  )
  const rows = tally(found.map(({ what }) => what)).map(([what, count]) => [what, String(count)])
  // Files of the corpus are named on a terminal, where somebody has them.
  if (top === Infinity)
    return table(
      [head, 'exchanges', 'for example'],
      rows.map(([what = '', count = '']) => [
        what,
        count,
        found.find((each) => each.what === what)?.file ?? '',
      ]),
    )
  const rest = rows.length - top
  return table([head, 'exchanges'], [...rows.slice(0, top), ...(rest > 0 ? [[`${rest} more`, '']] : [])])
}

/** Why exchanges could not be compared, by endpoint. */
export const incomparableTable = (replayed: Replayed[]): string =>
  table(
    ['not comparable', 'exchanges'],
    tally(
      replayed.flatMap(({ endpoint, outcome }) =>
        outcome.kind === 'not_comparable' ? [`${endpoint}: ${outcome.why}`] : [],
      ),
    ).map(([what, count]) => [what, String(count)]),
  )

/** Fields that are null on one side only: the double's nulls are held to the SDK's types by tsc. */
export const nullsTable = (replayed: Replayed[]): string =>
  table(
    ['null on one side only', 'exchanges'],
    tally(
      replayed.flatMap(({ outcome }) =>
        outcome.kind === 'not_comparable'
          ? []
          : outcome.nulls.map(({ at, detail }) => `\`${at}\` (${detail})`),
      ),
    ).map(([what, count]) => [what, String(count)]),
  )

/** Each text with the number of times that it occurs, the most frequent first. */
const tally = (texts: string[]): [string, number][] => {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
}

const refusals = (judged: Judged[]): string =>
  tally(
    judged.flatMap(({ kind, verdict }) =>
      verdict.kind === 'understood'
        ? []
        : [`${kind}: ${verdict.kind === 'misread' ? 'MISREAD, ' : ''}${verdict.why}`],
    ),
  )
    .map(([why, count]) => `${count} ${why}`)
    .join('<br>')

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`)
    .join('\n')
