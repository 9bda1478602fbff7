// How fast the demo goes: slowly enough to be watched on a terminal, as fast as it can elsewhere. Ends at once when it is
// interrupted.
import { setTimeout as sleep } from 'node:timers/promises'

export type Pace = {
  rest: (after: 'story' | 'delivery') => Promise<void>
  /** Waits until this part of the whole (0 to 1) has passed; where we are behind, not at all. */
  until: (part: number) => Promise<void>
}

// A title is read, then what follows; 230 deliveries fit in with room to spare.
const REST_MS = { story: 700, delivery: 50 } as const

/** `wholeMs` 0: no pauses. */
export const paceOf = (wholeMs: number, signal: AbortSignal): Pace => {
  const start = performance.now()
  const wait = async (ms: number) => {
    signal.throwIfAborted()
    if (wholeMs > 0 && ms > 0) await sleep(ms, undefined, { signal })
  }
  return {
    rest: (after) => wait(REST_MS[after]),
    until: (part) => wait(start + wholeMs * part - performance.now()),
  }
}
