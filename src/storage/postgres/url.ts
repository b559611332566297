import { isIPv6 } from 'node:net'
import { AppError } from '../../lib/errors.ts'

const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** These are the `ssl…` parameters of libpq: files are paths, and the root certificate may be `system`. */
export interface PostgresTls {
  mode: (typeof TLS_MODES)[number]
  rootCertificateFile?: string
  certificateFile?: string
  keyFile?: string
  keyPassword?: string
}

/** This says how to connect to a database on a PostgreSQL server. */
export interface ConnectionInfo {
  /** This is a host name, an IP address, or the folder of a Unix socket, which begins with a slash. */
  host: string
  port: number
  database: string
  user: string
  password?: string
  tls: PostgresTls
  applicationName?: string
  connectTimeoutMs?: number
  /** This is the URL without passwords, for messages. */
  redactedUrl: string
}

/** svc supports these parameters of libpq. */
const PARAMETERS = [
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
type Parameter = (typeof PARAMETERS)[number]
type GivenParameters = Partial<Record<Parameter, string>>

const SEVERAL_HOSTS = 'it must name one host: several with commas between are not supported'

/** Makes the error for an invalid URL. The message must hold no part of the URL that could be a piece of a password. */
const invalidUrl = (message: string): AppError => new AppError('invalid_request', message)

const isParameter = (name: string): name is Parameter => PARAMETERS.some((parameter) => parameter === name)

/** This form keeps every character, or refuses; `new URL` would repair some input and cut a fragment off. */
const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^@/?]*)@)?([^@/?]*)(?:\/([^@/?]*))?(?:\?([^@]*))?$/

/**
 * Reads a URL as libpq does (PostgreSQL, section 34.1.1.2), for one server. Throws `invalid_request`, with a message
 * that shows no part of a password. A parameter that is not supported is refused, never ignored
 * (docs/decisions/028-own-code.md).
 */
export const readPostgresUrl = (text: string): ConnectionInfo => {
  if (/[\s\p{Cc}]/u.test(text)) throw invalidUrl('it has a space or control character: write it as %20 and so on')
  const [whole, account = '', server = '', database = '', query = ''] = URL_FORM.exec(text) ?? []
  if (whole === undefined) {
    throw invalidUrl(
      'it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE; inside a part, @ is %40, / is %2F, ? is %3F',
    )
  }
  const [, user = '', password] = /^([^:]*)(?::(.*))?$/.exec(account) ?? []
  const given = new Map<Parameter, string>()
  add(given, 'user', user)
  add(given, 'password', password ?? '')
  readServer(given, server)
  add(given, 'dbname', database)
  // After an unencoded `&` in `password=`, the name of the next parameter would be a piece of the password.
  const mayShowNames = !query.includes('password=')
  for (const pair of query === '' ? [] : query.split('&')) readParameter(given, pair, mayShowNames)
  return toConnectionInfo(Object.fromEntries(given))
}

const add = (given: Map<Parameter, string>, name: Parameter, written: string): void => {
  if (written === '') return
  if (given.has(name)) throw invalidUrl(`the ${name} is given twice`)
  given.set(name, decode(written))
}

const decode = (written: string): string => {
  try {
    const text = decodeURIComponent(written)
    if (!text.includes('\0')) return text
  } catch {}
  throw invalidUrl('after each % there must be two hexadecimal digits, and together they must be UTF-8 without NUL')
}

const readServer = (given: Map<Parameter, string>, written: string): void => {
  if (written.includes(',')) throw invalidUrl(SEVERAL_HOSTS)
  const [whole, address, name = '', port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d+))?$/.exec(written) ?? []
  if (whole === undefined) throw invalidUrl('behind the @ there must be a host, or a host and a port: HOST:5432')
  add(given, 'host', address ?? name)
  if (address !== undefined && !isIPv6(decode(address))) throw invalidUrl('in brackets there must be an IPv6 address')
  add(given, 'port', port)
}

const readParameter = (given: Map<Parameter, string>, pair: string, mayShowNames: boolean): void => {
  const [name = '', value = '', ...more] = pair.split('=')
  if (!isParameter(name)) {
    const unknown = mayShowNames && name !== '' ? `the parameter ${JSON.stringify(name)}` : 'a parameter behind the ?'
    throw invalidUrl(`${unknown} is not supported: there are ${PARAMETERS.join(', ')}`)
  }
  if (value === '' || more.length > 0) throw invalidUrl(`the parameter ${name} must be written ${name}=VALUE`)
  add(given, name, value)
}

/** Validates decoded parameters; throws `invalid_request` if they are ambiguous or not supported. */
const toConnectionInfo = (given: GivenParameters): ConnectionInfo => {
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
