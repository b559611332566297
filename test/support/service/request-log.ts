import type { Answer } from '../client/user-agent.ts'
import type { LogLine, Service } from './service.ts'

/** Resolves to the first matching log line. Fails after a minute, because the log may be written in batches. */
export const loggedLine = async (service: Service, fits: (line: LogLine) => boolean): Promise<LogLine> => {
  for (let tries = 0; tries < 6000; tries++) {
    const line = service.logLines().find(fits)
    if (line) return line
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('no line in the log fits')
}

/** The log line of the request with this response. */
export const loggedRequest = (service: Service, { headers }: Answer): Promise<LogLine> =>
  loggedLine(service, (line) => line.message === 'request' && line.request_id === headers['x-request-id'])
