// The demo on a terminal: frames drawn over each other in place. The cursor is hidden meanwhile and always comes back.
import { drawFrame, fits, type Frame, type Size } from './frame.ts'
import type { Ledger, Tell } from './moments.ts'
import type { Paint } from './paint.ts'
import { emptyScene, follow } from './scene.ts'
import { describeLedger } from './wording.ts'

export type Screen = { tell: Tell; close: () => void }
export type Terminal = Pick<NodeJS.WriteStream, 'write' | 'on' | 'off'> & { columns: number; rows: number }

const HIDE_CURSOR = '\u001B[?25l'
const SHOW_CURSOR = '\u001B[?25h'
const CLEAR_BELOW = '\u001B[J'
const CLEAR_LINE = '\u001B[K'
const CLEAR_ALL = '\u001B[2J\u001B[H'
const up = (lines: number) => (lines === 0 ? '' : `\u001B[${lines}A`)
// More often is not seen.
const DRAW_EVERY_MS = 33

/** Draws until it is closed; the last frame stays. */
export const openScreen = (terminal: Terminal, paint: Paint): Screen => {
  const scene = emptyScene()
  let drawn = 0
  let timer: NodeJS.Timeout | null = null
  let closed = false
  const draw = () => {
    timer = null
    const size: Size = { columns: terminal.columns, rows: terminal.rows }
    // Made too small meanwhile: better nothing than a heap of broken lines.
    if (!fits(size, scene.tenants.length)) return
    const frame = drawFrame(scene, size)
    terminal.write(`${up(drawn)}${textOf(frame, paint)}${CLEAR_BELOW}`)
    drawn = frame.length
  }
  const redraw = () => {
    drawn = 0
    terminal.write(CLEAR_ALL)
    draw()
  }
  terminal.write(HIDE_CURSOR)
  terminal.on('resize', redraw)
  return {
    tell: (moment) => {
      follow(scene, moment)
      timer ??= setTimeout(draw, DRAW_EVERY_MS)
    },
    close: () => {
      if (closed) return
      closed = true
      if (timer !== null) clearTimeout(timer)
      if (scene.tenants.length > 0) draw()
      terminal.off('resize', redraw)
      terminal.write(SHOW_CURSOR)
      if (scene.checked !== null) terminal.write(`${endOf(scene.checked)}\n`)
    },
  }
}

// Below the last frame, whose upper lines may be scrolled out of sight by what follows.
const endOf = ({ ledger, right }: { ledger: Ledger; right: boolean }): string => {
  const verdict = right ? 'Every tenant is as expected' : 'Something is not as expected'
  return `\n${verdict}; ${describeLedger(ledger).join('; ')}.`
}

export const textOf = (frame: Frame, paint: Paint): string =>
  frame.map((line) => `${line.map(paint).join('')}${CLEAR_LINE}\n`).join('')
