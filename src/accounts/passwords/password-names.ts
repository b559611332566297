import { isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import { localPart } from '../username.ts'

/** Shorter names are part of too many good passwords. */
const MIN_LENGTH = 3
/** Longer texts are refused as names elsewhere. */
const MAX_LENGTH = 256

/** In lower case. */
const lettersAndDigits = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]/gu) ?? []).join('')

const hasLetter = (text: string): boolean => /\p{L}/u.test(text)

/**
 * From the first letter of a text to the last. A regular expression for the end would take time that grows with
 * the square of the length.
 */
const letterSpanOf = (text: string): string => {
  const characters = [...text]
  return characters.slice(characters.findIndex(hasLetter), characters.findLastIndex(hasLetter) + 1).join('')
}

/** Whether a password is a name with nothing but digits before and after it; both are letters and digits only. */
const isNameWithDigits = (password: string, name: string): boolean => {
  if (name.length < MIN_LENGTH || !hasLetter(name)) return name !== '' && password === name
  const [before = '', ...after] = password.split(name)
  return after.length === 1 && !hasLetter(before + after.join(''))
}

/** Whether a password is one of these names, in any case, alone or with nothing but digits and punctuation added. */
export const consistsOfName = (password: string, names: readonly string[]): boolean => {
  const entered = lettersAndDigits(password)
  const span = letterSpanOf(entered)
  const possible = names.filter(({ length }) => length <= MAX_LENGTH)
  return possible.some((name) => {
    if (name.toLowerCase() === password.toLowerCase()) return true
    const wanted = lettersAndDigits(name)
    return isNameWithDigits(entered, wanted) || (span.length >= MIN_LENGTH && span === letterSpanOf(wanted))
  })
}

/** The names of an account: each as it is, and of an email the part before the `@`, with and without its tag. */
export const accountNames = (names: readonly string[]): string[] =>
  names.flatMap((name) => {
    if (!name.includes('@')) return [name]
    const local = localPart(name)
    return [name, local, local.split('+')[0] ?? local]
  })

/**
 * Every run of labels of a host, such as `example.com` and `example` of `www.example.com`; not the last label alone.
 */
const labelRuns = (host: string): string[] => {
  const labels = host.replace(/^www\./, '').split('.')
  const lastStart = Math.max(1, labels.length - 1)
  return labels.slice(0, lastStart).flatMap((_, start) => {
    const ends = labels.slice(start).map((__, offset) => start + offset + 1)
    return ends.map((end) => labels.slice(start, end).join('.'))
  })
}

/**
 * The names of the site: those of its host, with and without `www.` and the end of the domain, and the application's.
 */
export const siteNames = (baseUrl: string, appName: string | undefined): string[] => {
  const { hostname } = new URL(baseUrl)
  const hosts = [hostname, domainToUnicode(hostname)]
  const parts = isIP(hostname.replace(/^\[|\]$/g, '')) ? [] : hosts.flatMap(labelRuns)
  return [...new Set([...hosts, ...parts, ...(appName ? [appName] : [])])]
}
