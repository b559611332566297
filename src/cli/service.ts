import type { Config } from '../config/config.ts'
import { showSettings, type ShownSetting } from '../config/shown-settings.ts'
import { AppError } from '../lib/errors.ts'
import { get } from '../lib/node-http.ts'
import { command } from './command/command.ts'
import { print, printNotice } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'

export const serveCommand = command({
  text: 'run the service',
  examples: ['svc serve', 'SVC_PORT=3000 SVC_BASE_URL=https://example.com svc serve'],
  json: false,
  run: (call) => call.serve(),
})

/** Containers and process supervisors call it. */
export const healthcheckCommand = command({
  text: 'check whether the running service is ready; exits with 0 if it is, else with 1',
  examples: ['svc healthcheck', 'SVC_PORT=3000 svc healthcheck'],
  json: false,
  async run({ loadConfig }) {
    const url = readyUrl(loadConfig())
    await requireReady(url)
    await print(`${url}: ready\n`)
  },
})

const READY_TIMEOUT_MS = 5000

const readyUrl = ({ host, port }: Config): string => {
  if (port === 0) throw new AppError('invalid_request', 'SVC_PORT is 0, so the port of the service is not known')
  return `http://${hostToConnectTo(host)}:${port}/auth/ready`
}

/** A service that listens on all addresses is reached at the loopback address. */
const hostToConnectTo = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

const requireReady = async (url: string): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = get(url, { agent: false, signal: AbortSignal.timeout(READY_TIMEOUT_MS) }, (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  request.on('error', reject)
  const status = await promise.catch(({ name, code, message }: NodeJS.ErrnoException) => {
    const problem = name === 'AbortError' ? `no answer within ${READY_TIMEOUT_MS} ms` : (code ?? message)
    throw new AppError('unavailable', `${url}: ${problem}`)
  })
  if (status !== 200) throw new AppError('unavailable', `${url}: not ready, answered ${status}`)
}

/** A service that is started now would use these settings. */
export const configCommand = command({
  text: 'show every setting, its value and where it comes from',
  examples: ['svc config', 'svc config --json'],
  notes:
    'Secrets are never shown. URLs are shown without their query, and the URLs of database and mail server without password.',
  async run(call) {
    const loaded = call.loadConfig()
    for (const warning of loaded.warnings) printNotice(`warning: ${warning}`)
    await call.list([showSettings(loaded, call)], {
      columns: COLUMNS,
      toJson: (setting) => setting,
      empty: 'there are no settings',
    })
  },
})

const COLUMNS: Column<ShownSetting>[] = [
  { title: 'setting', value: ({ name }) => name },
  {
    title: 'value',
    value: ({ value, source }) => value ?? (source === 'unset' ? '' : '(hidden)'),
    minWidth: 12,
    tone: ({ source }) => (source === 'environment' || source === '.env' ? 'bold' : undefined),
  },
  { title: 'from', value: ({ source }) => source, optional: true },
]
