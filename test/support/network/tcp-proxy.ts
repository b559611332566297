import { once } from 'node:events'
import net from 'node:net'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'

type Hear = (piece: Buffer) => 'mute' | Promise<void> | void

type Pair = { near: net.Socket; far: net.Socket; isMute: boolean }

/** A network between a client and a server on this machine, with the failures of networks. */
export type TcpProxy = {
  port: number
  /** The number of connections so far. */
  connections(): number
  /** Drops all data, on existing connections, too. New connections are accepted and never answered. */
  swallow(): void
  /** Breaks every connection, and new ones at once. */
  reset(): void
  /** Ends the fault. Connections that were swallowed stay silent. */
  mend(): void
  /**
   * Hears each piece that a client sends and may change its bytes; `mute` loses everything that is answered from now
   * on. A piece is passed on when what is returned has resolved.
   */
  onSent(hear: Hear | undefined): void
}

/** Stands before a port of this machine until the test, or the file when none is given, is over. */
export const startTcpProxy = async ({ port: target, t }: { port: number; t?: TestContext }): Promise<TcpProxy> => {
  const pairs = new Set<Pair>()
  let state: 'well' | 'swallows' | 'resets' = 'well'
  let hear: Hear | undefined

  const join = (near: net.Socket): void => {
    const far = net.connect(target, '127.0.0.1')
    const pair: Pair = { near, far, isMute: state === 'swallows' }
    pairs.add(pair)
    near.on('data', async (piece) => {
      if (state === 'swallows') pair.isMute = true
      if (pair.isMute) return
      const heard = hear?.(piece)
      if (heard instanceof Promise) {
        near.pause()
        await heard
        near.resume()
      }
      if (heard === 'mute') pair.isMute = true
      far.write(piece)
    })
    far.on('data', (piece) => {
      if (!pair.isMute && state !== 'swallows') near.write(piece)
    })
    for (const socket of [near, far]) socket.on('error', () => {})
    near.on('close', () => {
      far.destroy()
      pairs.delete(pair)
    })
    far.on('close', () => {
      if (!pair.isMute) near.destroy()
    })
  }

  let connections = 0
  const server = net.createServer((near) => {
    connections += 1
    if (state === 'resets') near.resetAndDestroy()
    else join(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterwards(t, () => {
    for (const { near } of pairs) near.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    port: address.port,
    connections: () => connections,
    swallow: () => {
      state = 'swallows'
      for (const pair of pairs) pair.isMute = true
    },
    reset: () => {
      state = 'resets'
      for (const { near } of pairs) near.resetAndDestroy()
    },
    mend: () => {
      state = 'well'
    },
    onSent: (next) => {
      hear = next
    },
  }
}
