// Has a sweep run now: its row is made due, the worker's next look (each five seconds) takes it.
import { until } from './service.ts'
import type { World } from './world.ts'

export type SweepRow = Record<string, unknown> & { ended_at: Date | null }

/** The row of a sweep; undefined before the worker first looked. */
export const sweepRow = async ({ query }: World, name: string): Promise<SweepRow | undefined> =>
  (await query<SweepRow>('select * from goodstanding.sweeps where name = $1', [name]))[0]

/** Resolves with the row when the run has ended. */
export const runSweep = async (world: World, name: string): Promise<SweepRow> => {
  await until('the sweep is known', async () => (await sweepRow(world, name)) !== undefined)
  const before = (await sweepRow(world, name))?.ended_at?.getTime()
  await world.query('update goodstanding.sweeps set due_at = clock_timestamp() where name = $1', [name])
  let row: SweepRow | undefined
  await until('it has ended', async () => {
    row = await sweepRow(world, name)
    return row?.ended_at?.getTime() !== before
  })
  return row as unknown as SweepRow
}
