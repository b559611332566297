import type { LogLine, Service } from './service.ts'
import type { Answer } from './user-agent.ts'

/** The log line of the request that was answered so, once it is written (fails after 5 s). */
export const loggedRequest = async (service: Service, { headers }: Answer): Promise<LogLine> => {
  const id = headers['x-request-id']
  for (let tries = 0; tries < 500; tries++) {
    const line = service.logLines().find((entry) => entry.message === 'request' && entry.request_id === id)
    if (line) return line
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`request ${id} is not in the log`)
}
