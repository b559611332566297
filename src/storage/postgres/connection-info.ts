import { isIPv6 } from 'node:net'
import { AppError } from '../../lib/errors.ts'

const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** Like libpq's `ssl…` parameters: files are paths, and the root certificate may be `system`. */
export interface PostgresTls {
  mode: (typeof TLS_MODES)[number]
  rootCertificateFile?: string
  certificateFile?: string
  keyFile?: string
  keyPassword?: string
}

/** How to connect to a database on a PostgreSQL server. */
export interface ConnectionInfo {
  /** A host name, an IP address, or the folder of a Unix socket, which begins with a slash. */
  host: string
  port: number
  database: string
  user: string
  password?: string
  tls: PostgresTls
  applicationName?: string
  connectTimeoutMs?: number
  /** The URL without passwords, for messages. */
  redactedUrl: string
}

/** The parameters of libpq that svc supports. */
export const PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslpassword',
  'application_name',
  'connect_timeout',
] as const
export type Parameter = (typeof PARAMETERS)[number]
type GivenParameters = Partial<Record<Parameter, string>>

export const SEVERAL_HOSTS = 'it must name one host: several with commas between are not supported'

/** The error for an invalid URL. The message must hold no part of the URL that could be a piece of a password. */
export const invalidUrl = (message: string): AppError => new AppError('invalid_request', message)

/** Validates decoded parameters; throws `invalid_request` where they are ambiguous or not supported. */
export const toConnectionInfo = (given: GivenParameters): ConnectionInfo => {
  const { host, user, dbname: database, password, application_name: applicationName } = given
  if (!host) throw invalidUrl('it names no host: postgres://USER@HOST/DATABASE, or ?host=/FOLDER/OF/SOCKET')
  if (host.includes(',')) throw invalidUrl(SEVERAL_HOSTS)
  if (!/^(?:\/.*|[\w.-]+)$/.test(host) && !isIPv6(host)) throw invalidUrl('the host is no name, address or folder')
  if (!user) throw invalidUrl('it names no user: postgres://USER@HOST/DATABASE')
  if (!database) throw invalidUrl('it names no database: postgres://USER@HOST/DATABASE')
  const port = readNumber(given, 'port', 65_535) ?? 5432
  const connectTimeoutS = readNumber(given, 'connect_timeout', 2_147_483)
  return {
    host,
    port,
    database,
    user,
    ...(password && { password }),
    tls: readTls(given),
    ...(applicationName && { applicationName }),
    ...(connectTimeoutS && { connectTimeoutMs: connectTimeoutS * 1000 }),
    redactedUrl: formatUrl({ host, port, database, user }, given),
  }
}

const readNumber = (given: GivenParameters, name: 'port' | 'connect_timeout', max: number): number | undefined => {
  const text = given[name]
  if (text === undefined) return undefined
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= max) return number
  throw invalidUrl(`the ${name} must be a whole number from 1 to ${max}`)
}

const readTls = (given: GivenParameters): PostgresTls => {
  const { sslmode, sslrootcert, sslcert, sslkey, sslpassword } = given
  const mode = TLS_MODES.find((choice) => choice === (sslmode ?? (sslrootcert === 'system' ? 'verify-full' : 'prefer')))
  if (!mode) throw invalidUrl(`the sslmode must be ${TLS_MODES.join(', ')}`)
  if (mode.startsWith('verify') && !sslrootcert) {
    throw invalidUrl(
      `sslmode=${mode} needs sslrootcert=FILE, or sslrootcert=system for the roots of the operating system`,
    )
  }
  // Public authorities give certificates to anyone: without the host name, one proves nothing.
  if (sslrootcert === 'system' && mode !== 'verify-full')
    throw invalidUrl('sslrootcert=system needs sslmode=verify-full')
  if (Boolean(sslcert) !== Boolean(sslkey)) throw invalidUrl('sslcert and sslkey must both be given, or none of them')
  if (sslpassword && !sslkey) throw invalidUrl('sslpassword is the password of an sslkey, which is not given')
  if (mode === 'disable' && (sslrootcert || sslcert)) throw invalidUrl('sslmode=disable takes no certificate')
  return {
    mode,
    ...(sslrootcert && { rootCertificateFile: sslrootcert }),
    ...(sslcert && { certificateFile: sslcert }),
    ...(sslkey && { keyFile: sslkey }),
    ...(sslpassword && { keyPassword: sslpassword }),
  }
}

const SHOWN_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'application_name', 'connect_timeout'] as const

const formatUrl = (
  { host, port, database, user }: Pick<ConnectionInfo, 'host' | 'port' | 'database' | 'user'>,
  given: GivenParameters,
): string => {
  const server = isIPv6(host) ? `[${host}]` : encodeURIComponent(host)
  const parameters = SHOWN_PARAMETERS.flatMap((name) => {
    const value = given[name]
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`]
  })
  const query = parameters.length > 0 ? `?${parameters.join('&')}` : ''
  return `postgres://${encodeURIComponent(user)}@${server}:${port}/${encodeURIComponent(database)}${query}`
}
