import { isIPv6 } from 'node:net'
import { ONE_HOST, PARAMETERS, type Parameter, type PostgresTarget, refusal, toTarget } from './target.ts'

export type { PostgresTarget } from './target.ts'

const isParameter = (name: string): name is Parameter => PARAMETERS.some((parameter) => parameter === name)

/** As it is written: what a URL parser would repair (or take for a fragment) is refused or kept. */
const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^@/?]*)@)?([^@/?]*)(?:\/([^@/?]*))?(?:\?([^@]*))?$/

/**
 * Reads a URL as libpq does (PostgreSQL, section 34.1.1.2), for one server. Throws `AppError` in words that show no
 * part of a password. A parameter is known or refused: none is dropped.
 */
export const readPostgresUrl = (text: string): PostgresTarget => {
  if (/[\s\p{Cc}]/u.test(text)) throw refusal('it has a space or control character: write it as %20 and so on')
  const [whole, account = '', server = '', database = '', query = ''] = URL_FORM.exec(text) ?? []
  if (whole === undefined) {
    throw refusal('it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE; inside a part, @ is %40, / is %2F, ? is %3F')
  }
  const [, user = '', password] = /^([^:]*)(?::(.*))?$/.exec(account) ?? []
  const given = new Map<Parameter, string>()
  add(given, 'user', user)
  add(given, 'password', password ?? '')
  readServer(given, server)
  add(given, 'dbname', database)
  // An `&` in a password that was not encoded makes a parameter of what is behind it.
  const mayBeTold = !query.includes('password=')
  for (const pair of query === '' ? [] : query.split('&')) readParameter(given, pair, mayBeTold)
  return toTarget(Object.fromEntries(given))
}

const add = (given: Map<Parameter, string>, name: Parameter, written: string): void => {
  if (written === '') return
  if (given.has(name)) throw refusal(`the ${name} is given twice`)
  given.set(name, decode(written))
}

const decode = (written: string): string => {
  try {
    const text = decodeURIComponent(written)
    if (!text.includes('\0')) return text
  } catch {}
  throw refusal('after each % there must be two hexadecimal digits, and together they must be UTF-8 without NUL')
}

const readServer = (given: Map<Parameter, string>, written: string): void => {
  if (written.includes(',')) throw refusal(ONE_HOST)
  const [whole, address, name = '', port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d+))?$/.exec(written) ?? []
  if (whole === undefined) throw refusal('behind the @ there must be a host, or a host and a port: HOST:5432')
  add(given, 'host', address ?? name)
  if (address !== undefined && !isIPv6(decode(address))) throw refusal('in brackets there must be an IPv6 address')
  add(given, 'port', port)
}

const readParameter = (given: Map<Parameter, string>, pair: string, mayBeTold: boolean): void => {
  const [name = '', value = '', ...more] = pair.split('=')
  if (!isParameter(name)) {
    const unknown = mayBeTold && name !== '' ? `the parameter ${JSON.stringify(name)}` : 'a parameter behind the ?'
    throw refusal(`${unknown} is not supported: there are ${PARAMETERS.join(', ')}`)
  }
  if (value === '' || more.length > 0) throw refusal(`the parameter ${name} must be written ${name}=VALUE`)
  add(given, name, value)
}
