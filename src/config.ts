import { availableParallelism } from 'node:os'
import { SETTINGS, type Setting } from './settings.ts'
import { EVENT_TYPES, type EventType } from './webhooks/event-types.ts'

type Settings = typeof SETTINGS
type WithFallback = { [K in keyof Settings]: K extends OptionalKey ? never : K }[keyof Settings]
/** Settings without a default that can be written down. */
type OptionalKey =
  | 'baseUrl'
  | 'secret'
  | 'audiences'
  | 'hashesAtOnce'
  | 'webhookUrl'
  | 'webhookSecret'
  | 'webhookEvents'
  | 'appName'
  | 'logoUrl'
type ValueOf<S> = S extends Setting<infer T> ? T : never

type Read = { [K in WithFallback]: ValueOf<Settings[K]> } & { [K in OptionalKey]?: ValueOf<Settings[K]> }

/** The settings as read, and what follows from them. */
export type Config = Omit<Read, 'audiences' | 'hashesAtOnce' | 'webhookEvents'> & {
  audiences: string[]
  hashesAtOnce: number
  webhookEvents: readonly EventType[]
  /** Mistakes that do not keep the service from starting. */
  warnings: string[]
}

/** The public origin when nothing was said. */
export const defaultBaseUrl = (port: number): string => new URL(`http://localhost:${port}`).origin

/** All that is wrong with the configuration, a line each. */
export class ConfigError extends Error {
  readonly problems: string[]

  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

export type Environment = Record<string, string | undefined>

const MIN_WEBHOOK_SECRET_BYTES = 16

/** Reads the settings; `readFile` is for variables that name a file. Throws `ConfigError` with every mistake at once. */
export const readConfig = (environment: Environment, readFile: (path: string) => string): Config => {
  const problems: string[] = []
  const read: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(SETTINGS)) {
    read[key] = readSetting(entry, environment, readFile, problems)
  }
  const settings = read as Read
  problems.push(...findContradictions(environment))
  if (problems.length > 0) throw new ConfigError(problems)
  return {
    ...settings,
    audiences: settings.audiences ?? [],
    hashesAtOnce: settings.hashesAtOnce ?? availableParallelism(),
    webhookEvents: settings.webhookEvents ?? EVENT_TYPES,
    warnings: [...findWarnings(settings), ...findUnknown(environment)],
  }
}

const readSetting = (
  entry: Setting<unknown>,
  environment: Environment,
  readFile: (path: string) => string,
  problems: string[],
): unknown => {
  const { name, accepts, secret, fallback } = entry
  const file = secret ? environment[`${name}_FILE`] : undefined
  if (file && environment[name]) {
    problems.push(`${name} and ${name}_FILE are both set: set one of them`)
    return undefined
  }
  let text = environment[name] || fallback
  try {
    if (file) text = readFile(file).trim()
  } catch (error) {
    problems.push(`${name}_FILE=${JSON.stringify(file)} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return undefined
  }
  if (file && !text) problems.push(`${name}_FILE=${JSON.stringify(file)} is empty: ${accepts}`)
  if (!text) return undefined
  const value = entry.read(text)
  if (value === undefined)
    problems.push(`${name}${secret ? '' : `=${JSON.stringify(text)}`} is not accepted: ${accepts}`)
  return value
}

const findContradictions = (environment: Environment): string[] => {
  const url = environment.SVC_WEBHOOK_URL
  const secret = environment.SVC_WEBHOOK_SECRET || environment.SVC_WEBHOOK_SECRET_FILE
  if (url && !secret) return ['SVC_WEBHOOK_SECRET is missing: it must be set when SVC_WEBHOOK_URL is']
  if (secret && !url) return ['SVC_WEBHOOK_URL is missing: it must be set when SVC_WEBHOOK_SECRET is']
  return []
}

const findWarnings = ({ webhookSecret, refreshGraceMs, accessTokenLifetimeMs, sessionLifetimeMs }: Read): string[] => [
  ...(webhookSecret && Buffer.byteLength(webhookSecret) < MIN_WEBHOOK_SECRET_BYTES
    ? [`SVC_WEBHOOK_SECRET is shorter than ${MIN_WEBHOOK_SECRET_BYTES} bytes and could be guessed`]
    : []),
  ...(accessTokenLifetimeMs > sessionLifetimeMs ? ['SVC_ACCESS_TOKEN_TTL is longer than SVC_SESSION_TTL'] : []),
  ...(refreshGraceMs > 600_000 ? ['SVC_REFRESH_GRACE is long: a stolen refresh token is noticed that much later'] : []),
]

const findUnknown = (environment: Environment): string[] => {
  const known = Object.values<Setting<unknown>>(SETTINGS).flatMap(({ name, secret }) =>
    secret ? [name, `${name}_FILE`] : [name],
  )
  return Object.keys(environment)
    .filter((name) => name.startsWith('SVC_') && !name.startsWith('SVC_TEST_') && !known.includes(name))
    .map((name) => `${name} is not a setting of svc`)
}
