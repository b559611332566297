import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { readConfig } from '../../../src/config/config.ts'
import { type Dev, type DevOptions, startDev } from '../../../src/dev/dev.ts'
import { createLog } from '../../../src/lib/log.ts'
import { afterwards } from '../cleanup.ts'
import { type Answer, createUserAgent } from '../client/user-agent.ts'
import type { Environment } from '../service/command.ts'

export type RunningDev = Dev & {
  port: number
  /** What svc has logged, and what has happened. */
  logs(): string
  /** Sends JSON as a program does, which keeps cookies, without the headers of a browser. */
  post(path: string, body?: object, headers?: Record<string, string>): Promise<Answer>
  get(path: string, headers?: Record<string, string>): Promise<Answer>
}

/** Starts `svc dev` inside this process, on a free port. It stops after the test `t`, or after the file. */
export const startDevHere = async ({
  options = {},
  env = {},
  t,
}: {
  options?: Partial<DevOptions>
  env?: Environment
  t?: TestContext
} = {}): Promise<RunningDev> => {
  let logs = ''
  const dev = await startDev({
    options: {
      app: undefined,
      port: 0,
      data: undefined,
      name: undefined,
      listen: undefined,
      webhook: undefined,
      ...options,
    },
    environment: env,
    readConfig: (environment) => readConfig(environment, (file) => readFileSync(file, 'utf8')),
    createLog: ({ logLevel }) => createLog(logLevel, { write: (line) => void (logs += line) }),
  })
  afterwards(t, dev.stop)
  const port = Number(new URL(dev.url).port)
  const agent = createUserAgent(dev)
  return {
    ...dev,
    port,
    logs: () => logs,
    post: (path, body, headers = {}) =>
      agent.send({
        method: 'POST',
        path,
        headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
        body: body ? JSON.stringify(body) : '',
      }),
    get: agent.get,
  }
}
