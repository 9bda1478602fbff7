// `npm run demo:record`: plays the demo once without a window and writes what a terminal would have shown as
// test/demo/demo.svg, for the README. Writes nothing where the demo does not end well.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { check } from './check.ts'
import { drawFrame, type Frame } from './frame.ts'
import { liveThrough } from './live.ts'
import type { Tell } from './moments.ts'
import { paceOf } from './pace.ts'
import { emptyScene, follow } from './scene.ts'
import { openTheatre } from './theatre.ts'
import { drawFilm } from './svg.ts'

const FILE = fileURLToPath(new URL('demo.svg', import.meta.url))
const WINDOW = { columns: 100, rows: 29 }
const TITLE =
  'npm run demo: webhooks arrive late, twice, out of order or not at all; a table shows plan, state and seats of twelve tenants'
// So long what a story brings is marked in the table.
const FOLLOWED_DAYS = 4

const main = async (): Promise<number> => {
  const frames: Frame[] = []
  const theatre = await openTheatre(Date.now())
  try {
    const tell = openCamera(frames)
    await liveThrough({ ...theatre, tell, pace: paceOf(0, new AbortController().signal) })
    const shop = theatre.sim.account(theatre.account)
    const checked = await check({ ...theatre, shop, at: theatre.sim.clock.now() })
    tell(checked)
    if (!checked.right) return 1
    // The last row stays free on a terminal; here it need not.
    writeFileSync(FILE, drawFilm({ ...WINDOW, rows: WINDOW.rows - 1, frames, title: TITLE }))
    process.stdout.write(`${frames.length} frames written\n`)
    return 0
  } finally {
    await theatre.close()
  }
}

/** Takes a frame of what came of each story, and one of the verdict. */
const openCamera = (frames: Frame[]): Tell => {
  const scene = emptyScene()
  let taken = -1
  const take = () => {
    if (taken === scene.story.day) return
    frames.push(drawFrame(scene, WINDOW))
    taken = scene.story.day
  }
  return (moment) => {
    if (moment.kind === 'day' && scene.day === scene.story.day + FOLLOWED_DAYS) take()
    if (moment.kind === 'story' && scene.story.title !== '') take()
    follow(scene, moment)
    if (moment.kind === 'checked') frames.push(drawFrame(scene, WINDOW))
  }
}

process.exitCode = await main()
process.exit()
