// Seeded randomness and identifiers that look like Stripe's. The same seed gives the same ids in the same
// order.

export type Rng = () => number

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

// mulberry32: tiny, good enough for tests, and the same on every machine.
export const seededRng = (seed: number): Rng => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export const hashSeed = (seed: number, text: string): number => {
  let hash = (2166136261 ^ seed) >>> 0
  for (const char of text) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0
  return hash
}

export type MakeId = (prefix: string) => string

// Lengths seen in recordings: older kinds have 14 characters, newer ones `1` and 23 more.
const SHORT = new Set(['cus', 'prod', 'si', 'req'])

export const makeIds = (rng: Rng): MakeId => {
  let counter = 0
  return (prefix) => {
    counter += 1
    const length = prefix.startsWith('cs_') ? 58 : SHORT.has(prefix) ? 14 : 23
    // The counter at the end makes ids unique whatever the rng says.
    const tail = base62(counter).padStart(4, '0')
    let body = ''
    while (body.length + tail.length < length) body += ALPHABET[Math.floor(rng() * 62)]
    return `${prefix}_${length === 23 ? '1' : ''}${body}${tail}`
  }
}

export const shuffled = <T>(values: readonly T[], rng: Rng): T[] => {
  const result = [...values]
  for (let i = result.length - 1; i > 0; i -= 1) {
    const j = Math.floor(rng() * (i + 1))
    const held = result[i] as T
    result[i] = result[j] as T
    result[j] = held
  }
  return result
}

const base62 = (value: number): string => {
  let rest = value
  let text = ''
  do {
    text = ALPHABET[rest % 62] + text
    rest = Math.floor(rest / 62)
  } while (rest > 0)
  return text
}
