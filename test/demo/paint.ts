// Colour, where the stream has it: NO_COLOR, FORCE_COLOR, TERM=dumb and pipes are node's to judge. Nothing is told by
// colour alone.
import { styleText } from 'node:util'

export type Style = 'plain' | 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan' | 'magenta'
/** A piece of a line. */
export type Span = readonly [text: string, style?: Style]
export type Paint = (span: Span) => string

export const withoutColour: Paint = ([text]) => text

export const withColour: Paint = ([text, style = 'plain']) =>
  style === 'plain' || text === '' ? text : styleText(style, text, { validateStream: false })

export const paintFor = (stream: NodeJS.WriteStream): Paint =>
  styleText('red', 'x', { stream }) === 'x' ? withoutColour : withColour

/** Exactly this wide: cut with an ellipsis, or filled with blanks. */
export const fit = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…`.slice(0, width) : text.padEnd(width)

/** No wider than this. */
export const clip = (spans: readonly Span[], width: number): Span[] => {
  const clipped: Span[] = []
  let left = width
  for (const [text, style] of spans) {
    if (left <= 0) break
    const kept = text.length > left ? fit(text, left) : text
    clipped.push([kept, style ?? 'plain'])
    left -= kept.length
  }
  return clipped
}
