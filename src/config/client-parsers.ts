import { type ClientScope, OWN_SCOPES } from '../clients/scope.ts'
import { isPrivateUseScheme } from '../clients/redirect-uri.ts'
import { isLoopbackUrl } from '../lib/url.ts'
import { parseDuration } from '../lib/time.ts'
import { listOf, parser } from './parsers.ts'

const parseResource = (item: string): string | undefined => {
  if (!URL.canParse(item) || item.includes('#')) return undefined
  const { protocol, username, password } = new URL(item)
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackUrl(item))
  return isSafe && !username && !password && item.length <= 512 && /^[\x21-\x7e]+$/.test(item) ? item : undefined
}

export const resources = listOf(
  'comma-separated https URLs without fragment, or http URLs of this machine, such as https://example.com/mcp',
  parseResource,
)

/** RFC 6749 section 3.3 allows these characters. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/

/** Splits at commas that no backslash precedes. */
const splitUnescaped = (text: string): string[] =>
  text.split(/(?<!\\),/).map((item) => item.replaceAll(String.raw`\,`, ',').trim())

const parseScope = (item: string): ClientScope | undefined => {
  const end = item.indexOf('=')
  const [name, text] = [item.slice(0, end).trim(), item.slice(end + 1).trim()]
  if (end < 1 || !SCOPE.test(name) || OWN_SCOPES.some((own) => own === name)) return undefined
  return text.length > 0 && text.length <= 200 && !/\p{Cc}/u.test(text) ? { name, text } : undefined
}

export const clientScopes = parser(
  `comma-separated NAME=TEXT, each name once and none of ${OWN_SCOPES.join(', ')}, each text of 1 to 200 characters with \\, for a comma`,
  (text) => {
    const scopes = splitUnescaped(text).map(parseScope)
    if (scopes.some((scope) => scope === undefined)) return undefined
    const names = scopes.map((scope) => scope?.name)
    return new Set(names).size === names.length ? (scopes as ClientScope[]) : undefined
  },
)

const HOST = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

export const clientHosts = listOf(
  'comma-separated host names, without ports and wildcards, and private-use schemes such as cursor:',
  (item) => {
    const text = item.toLowerCase()
    if (text.endsWith(':')) return isPrivateUseScheme(text.slice(0, -1)) ? text : undefined
    return HOST.test(text) ? text : undefined
  },
)

export const clientTokenLifetime = parser('a duration from 1m to 24h', (text) => {
  const ms = parseDuration(text)
  return ms !== undefined && ms >= 60_000 && ms <= 86_400_000 ? Math.round(ms) : undefined
})
