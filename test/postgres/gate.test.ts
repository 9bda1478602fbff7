// The bound in front of a pool.
import { expect, test } from 'vitest'
import { AppError } from '../../src/errors.ts'
import { createGate } from '../../src/postgres/gate.ts'

test('the gate lets in who came first, and closing waits for those inside and refuses the rest', async () => {
  const gate = createGate(1, 1_000)
  const order: number[] = []
  let release = () => {}
  const first = gate.through(() => new Promise<void>((resolve) => (release = resolve)))
  const others = [1, 2].map((index) => gate.through(async () => void order.push(index)))
  expect(gate.load()).toEqual({ active: 1, waiting: 2 })
  await new Promise(setImmediate)
  release()
  await Promise.all([first, ...others])
  expect(order).toEqual([1, 2])

  const last = gate.through(() => new Promise<string>((resolve) => setTimeout(() => resolve('done'), 50)))
  const refused = gate.through(async () => 'never')
  const closing = gate.close(1_000)

  await expect(refused).rejects.toBeInstanceOf(AppError)
  expect(await last).toBe('done')
  await closing
})

test("who waited too long leaves the line, and takes nobody's place", async () => {
  const gate = createGate(1, 50)
  let release = () => {}
  const first = gate.through(() => new Promise<void>((resolve) => (release = resolve)))

  await expect(gate.through(async () => 'never')).rejects.toMatchObject({ code: 'postgres/busy' })

  expect(gate.load()).toEqual({ active: 1, waiting: 0 })
  const next = gate.through(async () => 'next')
  release()
  await first
  expect(await next).toBe('next')
  expect(gate.load()).toEqual({ active: 0, waiting: 0 })
})

test('work that fails gives its place back', async () => {
  const gate = createGate(1, 50)

  await expect(gate.through(() => Promise.reject(new Error('ours')))).rejects.toThrow('ours')

  expect(await gate.through(async () => 'next')).toBe('next')
})

test('never more are inside than there are places', async () => {
  const gate = createGate(3, 1_000)
  let [inside, most] = [0, 0]

  await Promise.all(
    Array.from({ length: 50 }, () =>
      gate.through(async () => {
        inside += 1
        most = Math.max(most, inside)
        await new Promise(setImmediate)
        inside -= 1
      }),
    ),
  )

  expect(most).toBe(3)
})

test('closing waits no longer than it is told', async () => {
  const gate = createGate(1, 1_000)
  let release = () => {}
  const stuck = gate.through(() => new Promise<void>((resolve) => (release = resolve)))

  await gate.close(20)

  expect(gate.load().active).toBe(1)
  release()
  await stuck
})
