// The trail of what people and the program did, for auditors; and the queue's own figures.
import { listActions, nextActions, nextTrail, queueFigures } from './audit-queries.ts'
import { answer, type Answer, type Parts } from './parts.ts'

export type AuditInput = { since?: string | undefined; until?: string | undefined; limit: number }
export type Action = Awaited<ReturnType<typeof listActions>>[number]

/** What people did, newest first. */
export const auditList = async (parts: Parts, input: AuditInput): Promise<Answer<readonly Action[]>> =>
  answer(await parts.database.run((db) => listActions(db, input)))

const PAGE = 1_000

/** Everything that was recorded, each oldest first: what people did, then what the program did. */
export async function* auditExport(
  { database }: Pick<Parts, 'database'>,
  window: Omit<AuditInput, 'limit'>,
): AsyncGenerator<Record<string, unknown>> {
  const page = { ...window, limit: PAGE }
  yield* pages('operator', (after) => database.run((db) => nextActions(db, { ...page, after })))
  yield* pages('program', (after) => database.run((db) => nextTrail(db, { ...page, after })))
}

async function* pages(source: string, read: (after: number) => Promise<readonly { id: number }[]>) {
  let after = 0
  for (;;) {
    const page = await read(after)
    for (const row of page) yield { source, ...row }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last.id
  }
}

/** pg-boss's queues: jobs by state, and since when the oldest due one waits. */
export const queues = async (parts: Parts): Promise<Answer<Awaited<ReturnType<typeof queueFigures>>>> =>
  answer(await parts.database.run(queueFigures))
