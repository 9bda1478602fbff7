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
