// Every subscription and invoice in the corpus, wherever it stands: alone, in an event, in a list, expanded in another
// object, in an answer over HTTP. The same JSON of the same API version counts once.
import { dated, isFields, textIn, type Fields, type Recorded } from './read.ts'

export type RecordedObject = {
  kind: 'subscription' | 'invoice'
  /** '' where neither the event nor the index says. */
  version: string
  /** The first file that has it. */
  file: string
  raw: Fields
}

export const collectObjects = (files: Recorded[]): RecordedObject[] => {
  const found = new Map<string, RecordedObject>()
  for (const { file, version, json } of files)
    for (const each of objectsIn(json, version, file)) {
      const print = `${each.version} ${JSON.stringify(each.raw)}`
      if (!found.has(print)) found.set(print, each)
    }
  return [...found.values()]
}

const objectsIn = (value: unknown, version: string, file: string): RecordedObject[] => {
  if (Array.isArray(value)) return value.flatMap((each) => objectsIn(each, version, file))
  if (!isFields(value)) return []
  const kind = value['object']
  // What is in an event looks as the event's version says.
  const inside = kind === 'event' ? dated(textIn(value['api_version']) ?? version) : version
  const nested = Object.values(value).flatMap((each) => objectsIn(each, inside, file))
  return kind === 'subscription' || kind === 'invoice'
    ? [{ kind, version, file, raw: value }, ...nested]
    : nested
}
