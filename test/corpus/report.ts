// The run over the whole corpus: what came of each recorded object and exchange, as text and as the blocks of
// test/README.md, between `<!-- corpus:NAME -->` and `<!-- /corpus:NAME -->`.
import { replayAll, type Replayed } from './exchanges.ts'
import { collectObjects } from './objects.ts'
import { readCorpus } from './read.ts'
import { exchangesTable, incomparableTable, nullsTable, objectsTable, type Judged } from './tables.ts'
import { judgeInvoice, judgeSubscription } from './understand.ts'

type Blocks = Record<'objects' | 'exchanges', string>
export type CorpusReport = { judged: Judged[]; replayed: Replayed[]; blocks: Blocks; text: string }

export const runCorpus = async (folder: string): Promise<CorpusReport> => {
  const files = readCorpus(folder)
  const judged = collectObjects(files).map((each): Judged => ({
    ...each,
    verdict: each.kind === 'invoice' ? judgeInvoice(each.raw) : judgeSubscription(each.raw),
  }))
  const replayed = await replayAll(files)
  const blocks = { objects: objectsTable(judged), exchanges: exchangesTable(replayed) }
  const text = [
    blocks.objects,
    exchangesTable(replayed, Infinity),
    incomparableTable(replayed),
    nullsTable(replayed),
  ].join('\n\n')
  return { judged, replayed, blocks, text }
}

/** What makes the run fail; empty if it is good. */
export const failuresOf = ({ judged, replayed }: Pick<CorpusReport, 'judged' | 'replayed'>): string[] => [
  ...judged.flatMap(({ file, kind, verdict }) =>
    verdict.kind === 'misread' ? [`misread: ${kind} in ${file}: ${verdict.why}`] : [],
  ),
  ...(judged.some(({ verdict }) => verdict.kind === 'understood') ? [] : ['no object was understood']),
  ...(replayed.some(({ outcome }) => outcome.kind !== 'not_comparable')
    ? []
    : ['no exchange could be compared']),
]

/** The document with its blocks rewritten; a block that is not there is an error. */
export const withBlocks = (document: string, blocks: Blocks): string =>
  Object.entries(blocks).reduce((text, [name, block]) => {
    const pattern = new RegExp(`(<!-- corpus:${name} -->\n)[^]*?(<!-- /corpus:${name} -->)`)
    if (!pattern.test(text)) throw new Error(`no block corpus:${name}`)
    return text.replace(pattern, (_all, start: string, end: string) => `${start}${block}\n${end}`)
  }, document)
