// Every action of operators: the CLI's commands, the routes of the API and its OpenAPI document are made from this table.
import { ACTS } from './acts.ts'
import { LOOKS } from './looks.ts'

export const OPERATIONS = { ...LOOKS, ...ACTS } as const

export type OperationName = keyof typeof OPERATIONS
export type DataOf<Name extends OperationName> =
  Awaited<ReturnType<(typeof OPERATIONS)[Name]['run']>> extends infer A
    ? A extends { kind: 'answer'; data: infer Data }
      ? Data
      : never
    : never
