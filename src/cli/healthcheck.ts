import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { print } from './terminal/output.ts'

const TIMEOUT_MS = 5000

/** `svc healthcheck`, for containers and process supervisors. */
export const addHealthcheck = (program: Command, { loadConfig }: CommandContext): void => {
  addCommand(program, 'healthcheck', 'check whether the running service is ready; exits with 0 if it is, else with 1', [
    'svc healthcheck',
    'SVC_PORT=3000 svc healthcheck',
  ]).action(async () => {
    const url = readyUrl(loadConfig())
    await requireReady(url)
    await print(`${url}: ready\n`)
  })
}

const readyUrl = ({ host, port }: Config): string => {
  if (port === 0) throw new AppError('invalid_request', 'SVC_PORT is 0, so the port of the service is not known')
  return `http://${hostToConnectTo(host)}:${port}/auth/ready`
}

/** The host to connect to: the loopback address if the service listens on all addresses. */
const hostToConnectTo = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

const requireReady = async (url: string): Promise<void> => {
  const { get } = await import('../lib/node-http.ts')
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = get(url, { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  request.on('error', reject)
  const status = await promise.catch((error: NodeJS.ErrnoException) => {
    const problem = error.name === 'AbortError' ? `no answer within ${TIMEOUT_MS} ms` : (error.code ?? error.message)
    throw new AppError('unavailable', `${url}: ${problem}`)
  })
  if (status !== 200) throw new AppError('unavailable', `${url}: not ready, answered ${status}`)
}
