// A bound in front of a pool: slonik's own wait for a free connection has none. First come, first served.
import { AppError } from '../errors.ts'

export type Gate = {
  through: <T>(work: () => Promise<T>) => Promise<T>
  load: () => { active: number; waiting: number }
  close: (graceMs: number) => Promise<void>
}

/** Lets `size` callers in at once; others wait at most `maxWaitMs`, then get AppError `postgres/busy`. */
export const createGate = (size: number, maxWaitMs: number): Gate => {
  let active = 0
  let closed = false
  const waiting: { enter: () => void; refuse: (error: Error) => void }[] = []
  let whenEmpty: (() => void) | null = null

  const leave = () => {
    active -= 1
    if (!closed) waiting.shift()?.enter()
    if (active === 0) whenEmpty?.()
  }
  const enter = (): Promise<void> => {
    if (closed) return Promise.reject(new AppError('postgres/closed'))
    if (active < size) {
      active += 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const waiter = {
        enter: () => {
          clearTimeout(timer)
          active += 1
          resolve()
        },
        refuse: (error: Error) => {
          clearTimeout(timer)
          reject(error)
        },
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(new AppError('postgres/busy', { waited_ms: maxWaitMs }))
      }, maxWaitMs)
      waiting.push(waiter)
    })
  }
  return {
    through: async (work) => {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
    load: () => ({ active, waiting: waiting.length }),
    close: async (graceMs) => {
      closed = true
      for (const waiter of waiting.splice(0)) waiter.refuse(new AppError('postgres/closed'))
      if (active === 0) return
      let timer: NodeJS.Timeout | undefined
      await Promise.race([
        new Promise<void>((resolve) => (whenEmpty = resolve)),
        new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs))),
      ])
      clearTimeout(timer)
    },
  }
}
