// A TCP proxy in front of PostgreSQL that can freeze, as a network or a server that stops answering does.
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Ends with the test. Frozen, it keeps connections open and forwards nothing. */
export const startProxy = async (target: URL) => {
  let frozen = false
  const sockets: Socket[] = []
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    sockets.push(client, upstream)
    client.on('data', (data) => (frozen ? null : upstream.write(data)))
    upstream.on('data', (data) => (frozen ? null : client.write(data)))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.destroy())
      one.on('error', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(target)
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.toString(),
    freeze: () => {
      frozen = true
    },
    thaw: () => {
      frozen = false
    },
    /** Nothing listens there any more. */
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
