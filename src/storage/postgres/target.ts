import { isIPv6 } from 'node:net'
import { AppError } from '../../lib/errors.ts'

const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** As libpq's `sslmode`; files are paths, and the root certificate may be `system`. */
export interface PostgresTls {
  mode: (typeof TLS_MODES)[number]
  rootCertificateFile?: string
  certificateFile?: string
  keyFile?: string
  keyPassword?: string
}

/** A database on a PostgreSQL server. */
export interface PostgresTarget {
  /** A name, an address, or the folder of a Unix socket, which begins with a slash. */
  host: string
  port: number
  database: string
  user: string
  password?: string
  tls: PostgresTls
  applicationName?: string
  connectTimeoutMs?: number
  /** The URL without any password. */
  shown: string
}

/** Those of libpq's parameters that svc knows. */
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
type Given = Partial<Record<Parameter, string>>

export const ONE_HOST = 'it must name one host: several with commas between are not supported'

/** What is wrong with a URL. No part of it that could be a piece of a password is in the message. */
export const refusal = (message: string): AppError => new AppError('invalid_request', message)

/** From the parameters, decoded, to what they mean; throws `AppError` where that is not clear or not supported. */
export const toTarget = (given: Given): PostgresTarget => {
  const { host, user, dbname: database, password, application_name: applicationName } = given
  if (!host) throw refusal('it names no host: postgres://USER@HOST/DATABASE, or ?host=/FOLDER/OF/SOCKET')
  if (host.includes(',')) throw refusal(ONE_HOST)
  if (!/^(?:\/.*|[\w.-]+)$/.test(host) && !isIPv6(host)) throw refusal('the host is no name, address or folder')
  if (!user) throw refusal('it names no user: postgres://USER@HOST/DATABASE')
  if (!database) throw refusal('it names no database: postgres://USER@HOST/DATABASE')
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
    shown: show({ host, port, database, user }, given),
  }
}

const readNumber = (given: Given, name: 'port' | 'connect_timeout', most: number): number | undefined => {
  const text = given[name]
  if (text === undefined) return undefined
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= most) return number
  throw refusal(`the ${name} must be a whole number from 1 to ${most}`)
}

const readTls = (given: Given): PostgresTls => {
  const { sslmode, sslrootcert, sslcert, sslkey, sslpassword } = given
  const mode = TLS_MODES.find((choice) => choice === (sslmode ?? (sslrootcert === 'system' ? 'verify-full' : 'prefer')))
  if (!mode) throw refusal(`the sslmode must be ${TLS_MODES.join(', ')}`)
  if (mode.startsWith('verify') && !sslrootcert) {
    throw refusal(`sslmode=${mode} needs sslrootcert=FILE, or sslrootcert=system for the roots of the operating system`)
  }
  // Anybody can have a certificate of a public authority: without the name, it shows nothing.
  if (sslrootcert === 'system' && mode !== 'verify-full') throw refusal('sslrootcert=system needs sslmode=verify-full')
  if (Boolean(sslcert) !== Boolean(sslkey)) throw refusal('sslcert and sslkey must both be given, or none of them')
  if (sslpassword && !sslkey) throw refusal('sslpassword is the password of an sslkey, which is not given')
  if (mode === 'disable' && (sslrootcert || sslcert)) throw refusal('sslmode=disable takes no certificate')
  return {
    mode,
    ...(sslrootcert && { rootCertificateFile: sslrootcert }),
    ...(sslcert && { certificateFile: sslcert }),
    ...(sslkey && { keyFile: sslkey }),
    ...(sslpassword && { keyPassword: sslpassword }),
  }
}

type Place = Pick<PostgresTarget, 'host' | 'port' | 'database' | 'user'>

const SHOWN = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'application_name', 'connect_timeout'] as const

const show = ({ host, port, database, user }: Place, given: Given): string => {
  const server = isIPv6(host) ? `[${host}]` : encodeURIComponent(host)
  const parameters = SHOWN.flatMap((name) => {
    const value = given[name]
    return value === undefined ? [] : [`${name}=${encodeURIComponent(value).replaceAll('%2F', '/')}`]
  })
  const query = parameters.length > 0 ? `?${parameters.join('&')}` : ''
  return `postgres://${encodeURIComponent(user)}@${server}:${port}/${encodeURIComponent(database)}${query}`
}
