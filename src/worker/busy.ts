// Groups that this process must not claim now: those it works on, and those whose lock somebody else held a moment
// ago (tried again after 20 ms, doubling to 500 ms). A busy customer costs others nothing.
const FIRST_MS = 20
const LAST_MS = 500

export type BusyGroups = {
  /** To be left out of the next claim. */
  groups: () => string[]
  /** False where this process works on it already. */
  enter: (group: string) => boolean
  leave: (group: string) => void
  /** Its lock was held elsewhere. */
  hold: (group: string) => void
  /** Its lock was free. */
  free: (group: string) => void
  stop: () => void
}

/** `due` is called when a held group may be tried again. */
export const createBusyGroups = (due: () => void): BusyGroups => {
  const working = new Set<string>()
  const held = new Map<string, { waitMs: number; timer: NodeJS.Timeout | null }>()
  return {
    groups: () => [
      ...working,
      ...[...held].filter(([, { timer }]) => timer !== null).map(([group]) => group),
    ],
    enter: (group) => {
      if (working.has(group)) return false
      working.add(group)
      return true
    },
    leave: (group) => {
      working.delete(group)
    },
    hold: (group) => {
      const waitMs = Math.min(LAST_MS, (held.get(group)?.waitMs ?? FIRST_MS / 2) * 2)
      const entry: { waitMs: number; timer: NodeJS.Timeout | null } = { waitMs, timer: null }
      entry.timer = setTimeout(() => {
        entry.timer = null
        due()
      }, waitMs)
      held.set(group, entry)
    },
    free: (group) => {
      held.delete(group)
    },
    stop: () => {
      for (const { timer } of held.values()) if (timer !== null) clearTimeout(timer)
      held.clear()
    },
  }
}
