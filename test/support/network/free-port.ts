import { randomInt } from 'node:crypto'
import net from 'node:net'

// Below the ports of outgoing connections, so that the port is still free for a restart.
const PORTS = [10_240, 32_000] as const

/** A port that is probably free. */
export const somePort = (): string => String(randomInt(...PORTS))

/** A port on which nothing listens. */
export const freePort = async (): Promise<number> => {
  const port = randomInt(...PORTS)
  const server = net.createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
  return isFree ? port : freePort()
}

/** Whether a program accepts connections on the port. */
export const listensOn = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    const settle = (listens: boolean) => {
      socket.destroy()
      resolve(listens)
    }
    socket.once('connect', () => settle(true)).once('error', () => settle(false))
  })
