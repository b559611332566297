import { isIPv6 } from 'node:net'
import {
  type ConnectionInfo,
  invalidUrl,
  PARAMETERS,
  type Parameter,
  SEVERAL_HOSTS,
  toConnectionInfo,
} from './connection-info.ts'

export type { ConnectionInfo } from './connection-info.ts'

const isParameter = (name: string): name is Parameter => PARAMETERS.some((parameter) => parameter === name)

/** Not `new URL`, which would repair some input and cut a fragment off: this form keeps every character, or refuses. */
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
  // With an unencoded `&` in `password=`, the name of the next parameter would be a piece of the password.
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
