import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { sendRequest } from './connection.ts'

const PATIENCE_MS = 10_000

/** Milliseconds from the start of a program until it answers `request` with 200. Ends the program. */
export const timeStart = async (start: (port: number) => ChildProcess, request: string): Promise<number> => {
  const port = await findFreePort()
  const startedMs = performance.now()
  const child = start(port)
  child.stderr?.resume()
  try {
    await untilHealthy(port, request, startedMs + PATIENCE_MS)
    return performance.now() - startedMs
  } finally {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

const untilHealthy = async (port: number, request: string, deadlineMs: number): Promise<void> => {
  for (;;) {
    const response = await sendRequest(port, request).catch(() => undefined)
    if (response?.status === 200) return
    if (performance.now() > deadlineMs) throw new Error(`no 200 within ${PATIENCE_MS} ms`)
    await wait(1)
  }
}

export const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
