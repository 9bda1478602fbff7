// Missed events, as a report: for each account every event that Stripe made within a time and that we work is processed,
// ignored, pending or dead here, or it is a gap. Gaps are stored on request, by the same way as a webhook.
import { readClock } from '../customers/queries.ts'
import { KEPT_MS, GRACE_MS, findMissing, storeMissing, type ListedEvent } from '../inbox/catchup.ts'
import { DAY_MS, toIso, type Instant } from '../time.ts'
import { countByStatus } from './events-queries.ts'
import { accountNamed, answer, readerOf, sign, type Answer, type Parts, type Signed } from './parts.ts'

export type CatchupInput = { account?: string | undefined; days: number }

export type AccountCatchup = {
  account: string
  from: string | null
  through: string | null
  /** In the inbox, of that time. */
  here: Awaited<ReturnType<typeof countByStatus>>
  /** Null: no key, so nothing can be asked. */
  at_stripe: {
    listed: number
    worked: number
    missing: { id: string; type: string; created: string | null }[]
  } | null
  stored: number
}

/** Compares the inbox with Stripe's own list; `found` where there are gaps. With `signed` the gaps are stored. */
export const catchupReport = async (
  parts: Parts,
  { account, days }: CatchupInput,
  signed: Signed | null,
): Promise<Answer<AccountCatchup[]>> => {
  const named = account === undefined ? null : accountNamed(parts, account)
  if (named !== null && 'kind' in named) return named
  const through = (await parts.database.run(readClock)) - GRACE_MS
  const from = through - Math.min(days * DAY_MS, KEPT_MS)
  const reports: AccountCatchup[] = []
  for (const { name } of named === null ? parts.accounts.all : [named])
    reports.push(await reportOf(parts, name, { from, through }, signed))
  const gaps = reports.some(({ at_stripe: asked, stored }) => (asked?.missing.length ?? 0) > stored)
  return answer(reports, gaps)
}

const reportOf = async (
  parts: Parts,
  account: string,
  { from, through }: { from: Instant; through: Instant },
  signed: Signed | null,
): Promise<AccountCatchup> => {
  const window = { from: toIso(from), through: toIso(through) }
  const here = await parts.database.run((db) => countByStatus(db, { account, ...window }))
  const report = { account, ...window, here, at_stripe: null, stored: 0 }
  const stripe = parts.accounts.named(account)
  if (stripe === null || stripe.client === null) return report
  const { listed, worked, missing } = await listMissing(parts, account, { from, through })
  const stored =
    signed === null
      ? 0
      : await storeMissing({ database: parts.database, queue: parts.queue }, stripe, missing)
  if (signed !== null)
    await parts.database.transaction((tx) =>
      sign(tx, signed, { verb: 'catchup --store', target: account, after: { stored } }),
    )
  return {
    ...report,
    at_stripe: {
      listed,
      worked,
      missing: missing.map(({ id, type, created }) => ({ id, type, created: toIso(created * 1_000) })),
    },
    stored,
  }
}

const listMissing = async (
  parts: Parts,
  account: string,
  { from, through }: { from: Instant; through: Instant },
) => {
  const missing: ListedEvent[] = []
  let [listed, worked] = [0, 0]
  for (let after: string | null = null, more = true; more;) {
    const reader = readerOf(parts, account)
    if (reader === null) break
    const page = await reader.eventsSince(from, after)
    const found = await findMissing(parts.database, account, { events: page.events, through })
    missing.push(...found.missing)
    listed += page.events.length
    worked += found.ripe.length
    after = page.events.at(-1)?.id ?? after
    more = page.more
    parts.progress(`${account}: ${listed} events listed, ${missing.length} missing`)
  }
  return { listed, worked, missing }
}
