import type { LogLine, Service } from './service.ts'
import type { Answer } from './user-agent.ts'

/** The first log line that fits, once it is written (fails after a minute: the log may be written in batches). */
export const loggedLine = async (service: Service, fits: (line: LogLine) => boolean): Promise<LogLine> => {
  for (let tries = 0; tries < 6000; tries++) {
    const line = service.logLines().find(fits)
    if (line) return line
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('no line in the log fits')
}

/** The log line of the request that was answered so. */
export const loggedRequest = (service: Service, { headers }: Answer): Promise<LogLine> =>
  loggedLine(service, (line) => line.message === 'request' && line.request_id === headers['x-request-id'])
