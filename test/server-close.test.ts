// How the server ends: what is under way is answered, nothing new is taken, and keep-alive holds nothing up.
import { Agent, request, type IncomingMessage } from 'node:http'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { createLog } from '../src/log.ts'
import { listen, type Listening } from '../src/server.ts'
import { capturedLog } from './harness/log-capture.ts'

const log = createLog({ level: 'debug', destination: capturedLog })

const slowApp = () => {
  const gates: (() => void)[] = []
  const app = new Hono()
    .get('/fast', (c) => c.text('fast'))
    .get('/slow', async (c) => {
      await new Promise<void>((resolve) => gates.push(resolve))
      return c.text('slow')
    })
  return { app, gates }
}

type Answer = { status: number; connection: string | undefined; text: string }
const get = (server: Listening, path: string, agent: Agent, onData = () => {}) =>
  new Promise<Answer>((resolve, reject) => {
    request({ port: server.port, host: '127.0.0.1', path, agent }, (response: IncomingMessage) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        onData()
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, connection: response.headers.connection, text }),
      )
    })
      .on('error', reject)
      .end()
  })

const underWay = async (gates: unknown[], count: number) => {
  while (gates.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('closing answers what is under way, refuses what is new, and does not wait for keep-alive', async () => {
  const { app, gates } = slowApp()
  const server = await listen(app, { host: '127.0.0.1', port: 0, log })
  const agent = new Agent({ keepAlive: true })
  expect((await get(server, '/fast', agent)).connection).toBe('keep-alive')
  const slow = get(server, '/slow', agent)
  await underWay(gates, 1)

  const startedAt = performance.now()
  const closed = server.close(5_000)
  await expect(get(server, '/fast', new Agent())).rejects.toThrow(/ECONNREFUSED/)
  gates[0]?.()

  expect(await slow).toEqual({ status: 200, connection: 'close', text: 'slow' })
  await closed
  expect(performance.now() - startedAt).toBeLessThan(1_000)
  agent.destroy()
})

test('a connection that becomes idle after its answer began is closed, too', async () => {
  let finish = () => {}
  const app = new Hono().get('/stream', () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('begun '))
        finish = () => {
          controller.enqueue(new TextEncoder().encode('done'))
          controller.close()
        }
      },
    })
    return new Response(body)
  })
  const server = await listen(app, { host: '127.0.0.1', port: 0, log })
  const agent = new Agent({ keepAlive: true })
  const begun = Promise.withResolvers<void>()
  const answer = get(server, '/stream', agent, begun.resolve)
  await begun.promise

  const startedAt = performance.now()
  const closed = server.close(5_000)
  finish()

  expect(await answer).toMatchObject({ connection: 'keep-alive', text: 'begun done' })
  await closed
  expect(performance.now() - startedAt).toBeLessThan(1_000)
  agent.destroy()
})

test('what takes longer than the grace is cut', async () => {
  const { app, gates } = slowApp()
  const server = await listen(app, { host: '127.0.0.1', port: 0, log })
  const agent = new Agent({ keepAlive: true })
  const slow = get(server, '/slow', agent).catch((error: Error) => error.message)
  await underWay(gates, 1)

  const startedAt = performance.now()
  await server.close(200)

  expect(performance.now() - startedAt).toBeLessThan(1_000)
  expect(await slow).toMatch(/hang up|ECONNRESET/)
  gates[0]?.()
})

test('a port that is taken is an error, not a process that serves nothing', async () => {
  const first = await listen(new Hono(), { host: '127.0.0.1', port: 0, log })

  await expect(listen(new Hono(), { host: '127.0.0.1', port: first.port, log })).rejects.toThrow(/EADDRINUSE/)
  await first.close(100)
})
