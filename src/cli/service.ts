import { appNameOf, type Config, defaultBaseUrl, shownDatabase } from '../config/config.ts'
import { listProviderSettings } from '../config/provider-settings.ts'
import type { Setting } from '../config/setting.ts'
import { SETTINGS } from '../config/settings.ts'
import { shownSmtp } from '../config/mail-parsers.ts'
import { AppError } from '../lib/errors.ts'
import { get } from '../lib/node-http.ts'
import { type CommandContext, command } from './command/command.ts'
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
    const publicParts = new Map<string, string>([[SETTINGS.database.name, shownDatabase(loaded)]])
    if (loaded.smtp) publicParts.set(SETTINGS.smtp.name, shownSmtp(loaded.smtp))
    const settings = [...globalRows(loaded), ...providerRows(loaded)]
    const shown = settings.map((setting) => describeSetting(setting, call, publicParts.get(setting.name)))
    await call.list([shown], { columns: COLUMNS, toJson: (setting) => setting, empty: 'there are no settings' })
  },
})

/** Replaces the default of a setting that follows from others by the value in effect. */
const globalRows = (loaded: Config): Setting<unknown>[] => {
  const baseUrl = loaded.baseUrl ?? defaultBaseUrl(loaded.port)
  const inEffect = new Map<Setting<unknown>, string | undefined>([
    [SETTINGS.baseUrl, loaded.port === 0 ? undefined : baseUrl],
    [SETTINGS.appName, appNameOf(loaded, baseUrl)],
    [SETTINGS.relyingPartyId, loaded.relyingPartyId],
  ])
  return Object.values(SETTINGS).map((row: Setting<unknown>) => {
    const defaultValue = inEffect.get(row)
    return defaultValue === undefined ? row : { ...row, defaultValue }
  })
}

const providerRows = ({ oauthProviders }: Config): Setting<unknown>[] =>
  oauthProviders.flatMap(({ name, issuer }) =>
    // The issuer in effect contains the tenant, for Microsoft.
    listProviderSettings(name).map((row) => (row.key === 'issuer' ? { ...row, defaultValue: issuer } : row)),
  )

/** The JSON of a setting. */
interface ShownSetting {
  name: string
  /** It is null if the setting is unset, or a secret. */
  value: string | null
  source: 'environment' | '.env' | 'default' | 'unset'
  secret: boolean
  meaning: string
}

/** `publicPart` is the part of a secret that may be shown, such as a URL without its password. */
const describeSetting = (
  { name, description: meaning, defaultValue, defaultText, secret = false, show }: Setting<unknown>,
  { environment, fromEnvFile }: CommandContext,
  publicPart: string | undefined,
): ShownSetting => {
  const variable = [name, ...(secret ? [`${name}_FILE`] : [])].find((candidate) => environment[candidate])
  if (variable) {
    const text = environment[variable] ?? ''
    const value = (secret ? publicPart : (show?.(text) ?? text)) ?? null
    return { name: variable, value, source: fromEnvFile.has(variable) ? '.env' : 'environment', secret, meaning }
  }
  const value = defaultValue ?? defaultText?.replaceAll('`', '') ?? null
  return { name, value, source: value === null ? 'unset' : 'default', secret, meaning }
}

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
