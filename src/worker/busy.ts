// Groups that this process must not claim now: those it works on, and those whose lock somebody else held a moment
// ago (tried again after 20 ms, doubling to 500 ms). A busy customer costs others nothing.
const FIRST_MS = 20
const LAST_MS = 500
const FORGET_MS = 5_000

type Held = { waitMs: number; waiting: boolean; timer: NodeJS.Timeout }

export type BusyGroups = {
  /** To be left out of the next claim. */
  groups: () => string[]
  /** False where this process works on it already. */
  enter: (group: string) => boolean
  leave: (group: string) => void
  /** Its lock was held elsewhere; or, with `waitMs`, it is better left alone for so long. */
  hold: (group: string, waitMs?: number) => void
  /** Its lock was free. */
  free: (group: string) => void
  stop: () => void
}

/** `due` is called when a held group may be tried again. */
export const createBusyGroups = (due: () => void): BusyGroups => {
  const working = new Set<string>()
  const held = new Map<string, Held>()
  const end = (group: string, entry: Held) => {
    entry.waiting = false
    // The doubling goes on if it is held again soon; after that it is forgotten.
    entry.timer = setTimeout(() => held.delete(group), FORGET_MS)
    due()
  }
  return {
    groups: () => [...working, ...[...held].filter(([, { waiting }]) => waiting).map(([group]) => group)],
    enter: (group) => {
      if (working.has(group)) return false
      working.add(group)
      return true
    },
    leave: (group) => {
      working.delete(group)
    },
    hold: (group, fixedMs) => {
      const before = held.get(group)
      if (before !== undefined) clearTimeout(before.timer)
      const waitMs = fixedMs ?? Math.min(LAST_MS, (before?.waitMs ?? FIRST_MS / 2) * 2)
      const entry: Held = { waitMs, waiting: true, timer: setTimeout(() => end(group, entry), waitMs) }
      held.set(group, entry)
    },
    free: (group) => {
      clearTimeout(held.get(group)?.timer)
      held.delete(group)
    },
    stop: () => {
      for (const { timer } of held.values()) clearTimeout(timer)
      held.clear()
    },
  }
}
