// Frames of the demo as an animated SVG: text in a grid, a line once however many frames show it. Without animation the
// last frame is shown. It brings its own dark ground, so that it is readable on any page.
import type { Frame } from './frame.ts'
import type { Span, Style } from './paint.ts'

export type Film = { frames: readonly Frame[]; columns: number; rows: number; title: string }

const FRAME_S = 1.3
// The end is to be read.
const LAST_S = 7
// Whole numbers are short; a monospaced font of this size has this advance.
const CELL = { width: 8, height: 17 }
const FONT = '13.3px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'
const PADDING = 14
const BASELINE = 13
const GROUND = '#0d1117'
const COLOURS: Record<Style, string> = {
  plain: '#e6edf3',
  bold: '#ffffff',
  dim: '#8b949e',
  green: '#3fb950',
  yellow: '#d29922',
  red: '#f85149',
  cyan: '#39c5cf',
  magenta: '#bc8cff',
}

// Short, because they stand in the file thousands of times.
const CLASSES: Record<Style, string> = {
  plain: '',
  bold: 'b',
  dim: 'd',
  green: 'g',
  yellow: 'y',
  red: 'r',
  cyan: 'c',
  magenta: 'm',
}
const STYLES = ['bold', 'dim', 'green', 'yellow', 'red', 'cyan', 'magenta'] as const

export const drawFilm = ({ frames, columns, rows, title }: Film): string => {
  const ids = new Map<string, string>()
  const groups = frames.map((frame, index) => groupOf(frame, { index, count: frames.length, ids }))
  const width = Math.ceil(columns * CELL.width + 2 * PADDING)
  const height = rows * CELL.height + 2 * PADDING
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${styles(frames.length)}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${GROUND}"/>`,
    '<defs>',
    ...[...ids].map(([markup, id]) => `<text id="${id}">${markup}</text>`),
    '</defs>',
    `<g transform="translate(${PADDING} ${PADDING + BASELINE})">`,
    ...groups,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

const groupOf = (
  frame: Frame,
  { index, count, ids }: { index: number; count: number; ids: Map<string, string> },
): string => {
  const uses = frame.flatMap((line, row) => {
    const markup = markupOf(line)
    if (markup === '') return []
    const id = ids.get(markup) ?? `t${ids.size.toString(36)}`
    ids.set(markup, id)
    return [`<use href="#${id}" y="${row * CELL.height}"/>`]
  })
  const last = index === count - 1
  const delay = round(index * FRAME_S - wholeS(count))
  return `<g class="${last ? 'l' : 'f'}" style="animation-delay:${delay}s">${uses.join('')}</g>`
}

// Each word group stands at its column, whatever font the reader has, and however a reader treats blanks.
const markupOf = (line: readonly Span[]): string => {
  let column = 0
  return line
    .flatMap(([text, style = 'plain']) => {
      const start = column
      column += text.length
      return [...text.matchAll(/\S+(?: \S+)*/g)].map((found) => piece(found[0], start + found.index, style))
    })
    .join('')
}

const piece = (text: string, column: number, style: Style): string => {
  const x = column * CELL.width
  // Blocks must join.
  const stretched = /[█░]/.test(text)
    ? ` textLength="${text.length * CELL.width}" lengthAdjust="spacingAndGlyphs"`
    : ''
  const tone = style === 'plain' ? '' : ` class="${CLASSES[style]}"`
  return `<tspan x="${x}"${tone}${stretched}>${escapeXml(text)}</tspan>`
}

const styles = (count: number): string => {
  const whole = wholeS(count)
  const part = (seconds: number) => `${round((100 * seconds) / whole)}%`
  return [
    `text{font:${FONT};white-space:pre;fill:${COLOURS.plain}}`,
    ...STYLES.map((style) => `.${CLASSES[style]}{fill:${COLOURS[style]}}`),
    `.${CLASSES.bold}{font-weight:700}`,
    '.f{visibility:hidden}',
    `.f{animation:f ${whole}s step-end infinite}.l{animation:l ${whole}s step-end infinite}`,
    `@keyframes f{0%{visibility:visible}${part(FRAME_S)}{visibility:hidden}}`,
    // Its turn begins the animation, so what is over at its end is everything.
    `@keyframes l{0%{visibility:visible}${part(FRAME_S + LAST_S)}{visibility:hidden}}`,
    '@media (prefers-reduced-motion:reduce){.f,.l{animation:none}}',
  ].join('')
}

const wholeS = (count: number) => round(count * FRAME_S + LAST_S)

const round = (value: number) => Math.round(value * 100) / 100

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
