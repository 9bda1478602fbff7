// The records of the account itself: test clocks and webhook endpoints. See records.ts.

import type { Metadata } from './records.ts'

export type ClockState = {
  id: string
  created: number
  frozenTime: number
  name: string | null
  advancing: boolean
}
export type EndpointState = {
  id: string
  created: number
  url: string
  secret: string
  /** `*` is all. */
  types: string[]
  /** Null: the account's own version. */
  apiVersion: string | null
  /** Gets the events of connected accounts. */
  connect: boolean
  disabled: boolean
  description: string | null
  metadata: Metadata
}
