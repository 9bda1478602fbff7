// The recording of the demo: well-formed, small, of no machine in particular, and readable where nothing moves.
import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Frame } from './frame.ts'
import { drawFilm } from './svg.ts'
import { readText, ROOT } from '../tidy/source.ts'

const BYTES_MAX = 100_000
const film = (...frames: Frame[]) => drawFilm({ frames, columns: 20, rows: 2, title: 'a "film"' })

test('a line that two frames share is written once', () => {
  const svg = film([[['same']], [['one']]], [[['same']], [['two', 'red']]])

  expect(svg.match(/>same</g)).toHaveLength(1)
  expect(svg.match(/<use /g)).toHaveLength(4)
  expect(svg).toContain('class="r">two<')
})

test('text stands at its column and is escaped', () => {
  const svg = film([[['a'], ['   '], ['b  <&>', 'green']]])

  expect(svg).toContain('<tspan x="0">a</tspan><tspan x="32" class="g">b</tspan>')
  expect(svg).toContain('x="56" class="g">&lt;&amp;&gt;<')
  expect(svg).toContain('aria-label="a &quot;film&quot;"')
})

test('without animation only the last frame is to be seen', () => {
  const svg = film([[['one']]], [[['two']]])

  expect(svg).toContain('.f{visibility:hidden}')
  expect(svg.match(/class="f"/g)).toHaveLength(1)
  expect(svg.match(/class="l"/g)).toHaveLength(1)
  expect(svg).toContain('prefers-reduced-motion')
})

test('the recording in the repository is small, ends well, and names no machine', () => {
  const svg = readText('test/demo/demo.svg')

  expect(statSync(`${ROOT}test/demo/demo.svg`).size).toBeLessThan(BYTES_MAX)
  expect(svg.match(/as expected/g)).not.toBeNull()
  expect(svg).not.toMatch(/✘|127\.0\.0\.1|\/(tmp|home|root|Users)\//)
})
