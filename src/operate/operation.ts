// One action of operators as a row: who may do it, what it needs, what it does.
import type { z } from 'zod'
import type { Scope } from '../tokens.ts'
import type { Answer, Parts, Signed } from './parts.ts'

export type Operation<Input, Data> = {
  scope: Scope
  /** Needs a name and a reason, and is recorded with them. */
  writes: boolean
  about: string
  input: z.ZodType<Input>
  run: (parts: Parts, input: Input, signed: Signed) => Promise<Answer<Data>>
}

/** One that only looks. */
export const reads = <Input, Data>(
  scope: Scope,
  about: string,
  input: z.ZodType<Input>,
  run: (parts: Parts, input: Input) => Promise<Answer<Data>>,
): Operation<Input, Data> => ({ scope, writes: false, about, input, run })

/** One that acts: signed, and recorded. */
export const writes = <Input, Data>(
  scope: Scope,
  about: string,
  input: z.ZodType<Input>,
  run: Operation<Input, Data>['run'],
): Operation<Input, Data> => ({ scope, writes: true, about, input, run })
