// The signature verifier against Stripe's own, on seeded random cases; where ours is stricter, a table says so.
import Stripe from 'stripe'
import { expect, test } from 'vitest'
import { verifySignature } from '../../src/stripe/webhook.ts'
import { seededRng, signedHeaders } from '../stripe-sim/sim.ts'

const SECRET = 'whsec_right0000000000000000'
const NOW_S = 1_790_000_000
const stripe = new Stripe('sk_test_x')

const theirs = (body: string, header: string): boolean => {
  try {
    stripe.webhooks.constructEvent(body, header, SECRET, 300, undefined, NOW_S * 1_000)
    return true
  } catch (error) {
    // Stripe parses after it has verified; what it makes of the body is not the question.
    return error instanceof SyntaxError
  }
}
const ours = (body: string, header: string | null, secrets = [SECRET]): string => {
  const verified = verifySignature({
    body: new TextEncoder().encode(body),
    header,
    secrets,
    now: NOW_S * 1_000,
  })
  return verified.kind === 'valid' ? 'valid' : verified.why
}

test('two thousand random bodies and headers are judged as Stripe judges them', () => {
  const random = seededRng(2026)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const differences: string[] = []
  for (let round = 0; round < 2_000; round += 1) {
    const body = JSON.stringify({
      text: Array.from({ length: 20 }, () =>
        String.fromCodePoint(32 + (Math.floor(random() * 60_000) % 55_000)),
      ).join(''),
    })
    const age = pick([0, 10, 299, 301, 5_000])
    const header =
      signedHeaders(body, pick([SECRET, SECRET, 'whsec_wrong']), NOW_S - age)['stripe-signature'] ?? ''
    const v1 = header.split('v1=')[1] ?? ''
    const changed = pick([
      header,
      header,
      `${header},v1=${'0'.repeat(64)}`,
      header.replace('v1=', `v1=${'f'.repeat(64)},v1=`),
      header.replace('v1=', 'v0='),
      header.replace(v1, v1.slice(1) + v1.slice(0, 1)),
      `t=${NOW_S - age}`,
      '',
    ])
    if (theirs(body, changed) !== (ours(body, changed) === 'valid'))
      differences.push(`${changed} over ${body}`)
  }
  expect(differences).toEqual([])
})

const BODY = '{"id":"evt_1"}'
const at = (seconds: number) => signedHeaders(BODY, SECRET, seconds)['stripe-signature'] ?? ''

test.each<[string, string | null, string]>([
  ['no header', null, 'header_missing'],
  ['an empty header', '', 'header_missing'],
  ['garbage', 'garbage', 'header_malformed'],
  ['a stamp alone', `t=${NOW_S}`, 'header_malformed'],
  ['a signature alone', at(NOW_S).replace(/t=\d+,/, ''), 'header_malformed'],
  ['v0 only', at(NOW_S).replace('v1=', 'v0='), 'header_malformed'],
  ['a negative stamp', at(NOW_S).replace('t=', 't=-'), 'header_malformed'],
  ['a stamp in milliseconds', at(NOW_S * 1_000), 'header_malformed'],
  ['blanks after the comma', at(NOW_S).replace(',', ', '), 'valid'],
  ['a wrong signature under an old stamp', at(NOW_S - 900).replace(/v1=./, 'v1=g'), 'header_malformed'],
  ['a stamp ten years ahead', at(NOW_S + 315_360_000), 'timestamp_out_of_tolerance'],
  ['301 s ahead', at(NOW_S + 301), 'timestamp_out_of_tolerance'],
  ['301 s behind', at(NOW_S - 301), 'timestamp_out_of_tolerance'],
  ['300 s ahead', at(NOW_S + 300), 'valid'],
  ['300 s behind', at(NOW_S - 300), 'valid'],
  ['two stamps', `t=${NOW_S},${at(NOW_S)}`, 'header_malformed'],
  ['a stamp that is no number', at(NOW_S).replace(/t=\d+/, 't=now'), 'header_malformed'],
  [
    'the right signature after eight others',
    at(NOW_S).replace('v1=', `${Array.from({ length: 8 }, () => `v1=${'0'.repeat(64)}`).join(',')},v1=`),
    'no_match',
  ],
  ['upper-case hex', at(NOW_S).replace(/v1=(.*)/, (_all, hex: string) => `v1=${hex.toUpperCase()}`), 'valid'],
])('%s is %s', (_what, header, verdict) => {
  expect(ours(BODY, header)).toBe(verdict)
})

test('the stamp is judged to the millisecond, both ways', () => {
  const on = (skewMs: number) =>
    verifySignature({
      body: new TextEncoder().encode(BODY),
      header: at(NOW_S),
      secrets: [SECRET],
      now: NOW_S * 1_000 + skewMs,
    }).kind

  expect([-300_001, -300_000, 300_000, 300_001].map(on)).toEqual(['invalid', 'valid', 'valid', 'invalid'])
})

test('no secret at all accepts nothing', () => {
  expect(ours(BODY, at(NOW_S), [])).toBe('no_match')
})

test('any of several secrets will do, and bytes that merely decode alike will not', () => {
  expect(ours(BODY, at(NOW_S), ['whsec_old', SECRET])).toBe('valid')
  expect(ours(BODY, at(NOW_S), ['whsec_old'])).toBe('no_match')
  const withBom = verifySignature({
    body: new TextEncoder().encode(`\uFEFF${BODY}`),
    header: at(NOW_S),
    secrets: [SECRET],
    now: NOW_S * 1_000,
  })
  expect(withBom).toEqual({ kind: 'invalid', why: 'no_match' })
})
