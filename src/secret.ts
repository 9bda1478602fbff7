// A value that must not be printed: keys, signing secrets, a database URL. Every way of turning it into text gives
// '[secret]'; only reveal() gives the value, at the place that uses it.
import { inspect } from 'node:util'

const SHOWN = '[secret]'

/** Wraps a secret string. Compare and use it by reveal(), as late as possible. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The value itself. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [inspect.custom](): string {
    return SHOWN
  }
}
