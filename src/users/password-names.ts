import { isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import { localPart } from './username.ts'

/** Shorter ones are in every other password. */
const MIN_LETTERS = 3
/** Longer ones are no names, which is said elsewhere. */
const MAX_LENGTH = 256

/** What a name and a password are compared by: their letters, and the digits in between. */
const coreOf = (text: string): string => {
  // By index: an expression for the end of a text takes the square of its length, and a form may be 16 KiB long.
  const kept = text.toLowerCase().match(/[\p{L}\p{N}]/gu) ?? []
  return kept.slice(kept.findIndex(isLetter), kept.findLastIndex(isLetter) + 1).join('')
}

const isLetter = (character: string): boolean => /\p{L}/u.test(character)

/** Whether a password is one of these names, in any case, alone or with nothing but digits and punctuation added. */
export const isMadeOf = (password: string, names: readonly string[]): boolean => {
  const core = coreOf(password)
  const possible = names.filter(({ length }) => length <= MAX_LENGTH)
  return possible.some(
    (name) => name.toLowerCase() === password.toLowerCase() || (core.length >= MIN_LETTERS && core === coreOf(name)),
  )
}

/** The names of an account: each as it is, and of an email what stands before the `@`, with and without its tag. */
export const accountNames = (names: readonly string[]): string[] =>
  names.flatMap((name) => {
    if (!name.includes('@')) return [name]
    const local = localPart(name)
    return [name, local, local.split('+')[0] ?? local]
  })

/** Every run of labels of a host, such as `example.com` and `example` of `www.example.com`; not the last label alone. */
const labelRuns = (host: string): string[] => {
  const labels = host.replace(/^www\./, '').split('.')
  const lastStart = Math.max(1, labels.length - 1)
  return labels.slice(0, lastStart).flatMap((_, start) => {
    const ends = labels.slice(start).map((__, offset) => start + offset + 1)
    return ends.map((end) => labels.slice(start, end).join('.'))
  })
}

/** The names of the site: those of its host, with and without `www.` and the end of the domain, and the application's. */
export const siteNames = (baseUrl: string, appName: string | undefined): string[] => {
  const { hostname } = new URL(baseUrl)
  const hosts = [hostname, domainToUnicode(hostname)]
  const parts = isIP(hostname.replace(/^\[|\]$/g, '')) ? [] : hosts.flatMap(labelRuns)
  return [...new Set([...hosts, ...parts, ...(appName ? [appName] : [])])]
}
