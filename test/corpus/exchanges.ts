// Recorded conversations with the real API, held again with the double: each request is sent as it was recorded, with
// the ids that the double gave to the same objects, and the shape of the answer is compared. It knows no endpoint:
// what the double cannot do is an answer, too. All of it stays on loopback.
import { startStripeSim, type SimAccount, type StripeSim } from '../stripe-sim/sim.ts'
import { createGlossary, type Glossary } from './glossary.ts'
import { fieldsIn, isFields, messageOf, textIn, type Fields, type Recorded } from './read.ts'
import { needsNoStage, seedMissing, type Post } from './seeds.ts'
import { compareShapes, type Difference } from './shapes.ts'

export type Exchange = {
  file: string
  version: string
  method: string
  path: string
  /** `POST /v1/customers/{id}`. */
  endpoint: string
  query: string
  form: string
  account: string | null
  status: number
  body: unknown
  at: number
}

export type Outcome =
  | { kind: 'equal'; nulls: Difference[] }
  | { kind: 'differs'; differences: Difference[]; nulls: Difference[] }
  | { kind: 'not_comparable'; why: string }

export type Replayed = { file: string; endpoint: string; version: string; outcome: Outcome }

/** `refused`: expansions that the double cannot do, learned in the whole run. */
type Stage = { sim: StripeSim; glossary: Glossary; refused: Set<string> }
type Answer = { status: number; body: unknown }

/** Older ones only set the stage: the double does not claim their shapes. */
const COMPARED = /^202[5-9]-/
const KEY = 'sk_test_corpus'

/** Every conversation, one after the other, each with a double of its own. */
export const replayAll = async (files: Recorded[]): Promise<Replayed[]> => {
  const replayed: Replayed[] = []
  const refused = new Set<string>()
  for (const conversation of conversationsIn(files)) replayed.push(...(await replay(conversation, refused)))
  return replayed
}

/** The exchanges of one folder are one conversation, in the order of the index; none without a compared one. */
export const conversationsIn = (files: Recorded[]): Exchange[][] => {
  const exchanges = files.filter(({ kind }) => kind.startsWith('http')).map(exchangeIn)
  const folders = Map.groupBy(exchanges, ({ file }) => file.slice(0, file.lastIndexOf('/')))
  return [...folders.values()].filter((each) => each.some(({ version }) => COMPARED.test(version)))
}

/** One conversation with a fresh double; the outcome of each exchange that is of a compared version. */
export const replay = async (conversation: Exchange[], refused = new Set<string>()): Promise<Replayed[]> => {
  const sim = await startStripeSim({ accounts: accountsOf(conversation), now: conversation[0]?.at ?? 0 })
  try {
    const stage = { sim, refused, glossary: createGlossary(conversation.map(({ body }) => body)) }
    const replayed: Replayed[] = []
    for (const exchange of conversation) {
      // Some conversations were recorded in parts: time never goes back.
      sim.clock.set(Math.max(sim.clock.now(), exchange.at))
      const outcome = await replayOne(stage, exchange)
      const { file, endpoint, version } = exchange
      if (COMPARED.test(version)) replayed.push({ file, endpoint, version, outcome })
    }
    return replayed
  } finally {
    await sim.close()
  }
}

const replayOne = async ({ sim, glossary, refused }: Stage, exchange: Exchange): Promise<Outcome> => {
  const post: Post = async (path, form) =>
    send(sim, { ...exchange, method: 'POST', path, query: '', form: new URLSearchParams(form).toString() })
  await seedMissing({ exchange, glossary, post })
  const unknown = glossary.unknownIn(exchange)
  if (unknown !== null && !needsNoStage(exchange)) {
    glossary.learn({ recorded: exchange.body, double: null })
    return { kind: 'not_comparable', why: unknown }
  }
  const { answer, unexpanded } = await ask(sim, glossary.translate(exchange), refused)
  glossary.learn({ recorded: exchange.body, double: answer.body })
  return outcomeOf(exchange, answer, unexpanded)
}

/**
 * The answer without the expansions that the double refuses, and those. It refuses them after the effect, so each is
 * asked for only once in a run.
 */
const ask = async (sim: StripeSim, exchange: Exchange, refused: Set<string>) => {
  const resource = exchange.path.split('/')[2] ?? ''
  for (;;) {
    const asked = withoutExpansions(exchange, (path) => refused.has(`${resource} ${path}`))
    const answer = await send(sim, asked.exchange)
    const path = /cannot be expanded \((.+)\)/.exec(messageOf(answer.body))?.[1]
    if (path === undefined || exchange.status >= 400 || refused.has(`${resource} ${path}`))
      return { answer, unexpanded: asked.left.map((each) => `${resource} expand ${each}`) }
    refused.add(`${resource} ${path}`)
  }
}

const withoutExpansions = (exchange: Exchange, isRefused: (path: string) => boolean) => {
  const left: string[] = []
  const kept = (text: string): string =>
    new URLSearchParams(
      [...new URLSearchParams(text)].filter(([key, path]) => {
        const goes = key.startsWith('expand[') && isRefused(path)
        if (goes) left.push(path)
        return !goes
      }),
    ).toString()
  return { exchange: { ...exchange, query: kept(exchange.query), form: kept(exchange.form) }, left }
}

const outcomeOf = (exchange: Exchange, { status, body }: Answer, unexpanded: string[]): Outcome => {
  const message = messageOf(body)
  if (status === 404 && message.startsWith('Unrecognized request URL'))
    return { kind: 'not_comparable', why: 'the double has no such endpoint' }
  if (status !== exchange.status) {
    const detail = `recorded ${exchange.status}, double ${status} ${message.split('\n')[0]}`
    const at = `${exchange.endpoint} ${exchange.status} as ${status}`
    return { kind: 'differs', differences: [{ kind: 'status', at, detail }], nulls: [] }
  }
  const all = compareShapes({ recorded: exchange.body, double: body })
  const nulls = all.filter(({ kind }) => kind === 'null')
  const missing = all.filter(({ kind }) => kind === 'missing').map(({ at }) => at)
  const differences = [
    ...unexpanded
      // An expansion of nothing leaves no trace, and one that does is missing anyway.
      .filter((path) => !missing.some((at) => at.endsWith(path.split(/[ .]/).at(-1) ?? '')))
      .map((at): Difference => ({ kind: 'missing', at, detail: 'not expanded' })),
    ...all.filter(({ kind }) => kind !== 'null'),
  ]
  return differences.length === 0 ? { kind: 'equal', nulls } : { kind: 'differs', differences, nulls }
}

const send = async (sim: StripeSim, exchange: Exchange): Promise<Answer> => {
  const { method, path, version, account } = exchange
  // Some clients send a GET with a body, which fetch cannot, and which says what a query says.
  const isGet = method === 'GET'
  const query = [exchange.query, ...(isGet ? [exchange.form] : [])].filter((text) => text !== '').join('&')
  const form = isGet ? '' : exchange.form
  const response = await fetch(`${sim.url}${path}${query === '' ? '' : `?${query}`}`, {
    method,
    headers: {
      // Recorded without a valid key: answered in the same way.
      authorization: `Bearer ${exchange.status === 401 ? 'sk_test_wrong' : KEY}`,
      'stripe-version': version,
      ...(account !== null && { 'stripe-account': account }),
      ...(form !== '' && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ...(form !== '' && { body: form }),
  })
  return { status: response.status, body: jsonOf(await response.text()) }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The platform, and each connected account by its recorded id. */
const accountsOf = (conversation: Exchange[]): SimAccount[] => {
  const connected = new Set(conversation.map(({ account }) => account).filter((id) => id !== null))
  return ['acct_1CorpusPlatform', ...connected].map((id, index) => ({
    name: id,
    id,
    apiKey: index === 0 ? KEY : `${KEY}_${id}`,
    livemode: false,
    webhookSecret: 'whsec_corpus',
  }))
}

const exchangeIn = ({ file, version, json }: Recorded): Exchange => {
  const { request, response, recorded_at: recordedAt }: Fields = fieldsIn(json)
  const [asked, answered] = [fieldsIn(request), fieldsIn(response)]
  const text = (key: string) => textIn(asked[key]) ?? ''
  const { status, body } = answered
  return {
    file,
    version,
    method: text('method'),
    path: text('path'),
    endpoint: `${text('method')} ${text('template')}`,
    query: text('query'),
    form: text('form'),
    account: textIn(asked['stripe_account']),
    status: typeof status === 'number' ? status : 0,
    body: isFields(body) ? body : null,
    at: Date.parse(textIn(recordedAt) ?? '') || 0,
  }
}
