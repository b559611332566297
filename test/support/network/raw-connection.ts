import { once } from 'node:events'
import net from 'node:net'
import type { TestContext } from 'node:test'
import { afterwards } from '../cleanup.ts'

/** A plain TCP connection, for bytes that no HTTP client would send. */
export type RawConnection = {
  write(text: string): void
  /** Everything received, once the other side has closed or the text contains `until` (fails after a minute). */
  answer(until?: RegExp): Promise<string>
  close(): void
}

/** Connects to the service; closed after the test. */
export const connectRaw = async ({ port }: { port: number }, t: TestContext): Promise<RawConnection> => {
  const socket = net.connect(port, '127.0.0.1')
  socket.setEncoding('latin1')
  const received = { text: '', closed: false }
  socket.on('data', (chunk: string) => (received.text += chunk))
  socket.on('error', () => {})
  socket.once('close', () => (received.closed = true))
  afterwards(t, () => socket.destroy())
  await once(socket, 'connect')
  const answer = async (until?: RegExp) => {
    const patience = Date.now() + 60_000
    while (!received.closed && !until?.test(received.text)) {
      if (Date.now() > patience) throw new Error(`no end of the answer within a minute: ${received.text}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return received.text
  }
  return { write: (data) => void socket.write(data, 'latin1'), answer, close: () => socket.destroy() }
}
