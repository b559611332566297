import { domainToASCII } from 'node:url'

const MAX_LENGTH = 254
const MAX_LOCAL_LENGTH = 64
// RFC 5321 section 4.1.2 defines a Dot-string of atoms (RFC 5322 section 3.2.3).
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
// RFC 1123 section 2.1 allows letters, digits and inner hyphens, 63 at most.
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

export interface Email {
  /** This is the address as it was entered, but for surrounding spaces. */
  shown: string
  /** This is the address as it is compared. */
  lower: string
}

/**
 * Removes the spaces around a text. A regular expression for those at the end would take time that grows with the
 * square of the length.
 */
const withoutSpacesAround = (text: string): string => {
  let [start, end] = [0, text.length]
  while (text[start] === ' ') start += 1
  while (end > start && text[end - 1] === ' ') end -= 1
  return text.slice(start, end)
}

/** Reads an email address: RFC 5321 dot-atom in ASCII, and a domain with a dot. */
export const readEmail = (entered: string): Email | undefined => {
  const shown = withoutSpacesAround(entered)
  return isEmail(shown) ? { shown, lower: shown.toLowerCase() } : undefined
}

/**
 * Finds the address with its domain as mail servers know it (`xn--`, RFC 5891), if letters beyond ASCII in the domain
 * are all that is wrong with it.
 */
export const findAsciiForm = (entered: string): string | undefined => {
  const [local = '', domain = '', ...more] = withoutSpacesAround(entered).split('@')
  if (entered.length > MAX_LENGTH || more.length > 0 || !/\P{ASCII}/u.test(domain)) return undefined
  return readEmail(`${local}@${domainToASCII(domain)}`)?.shown
}

const isEmail = (text: string): boolean => {
  const [local = '', domain = '', ...more] = text.split('@')
  return (
    text.length <= MAX_LENGTH &&
    more.length === 0 &&
    local.length <= MAX_LOCAL_LENGTH &&
    LOCAL.test(local) &&
    isEmailDomain(domain)
  )
}

/** Tells whether a text is a domain of letter-digit-hyphen labels, with a dot and no numeric top level. */
export const isEmailDomain = (domain: string): boolean => {
  const labels = domain.split('.')
  const top = labels.at(-1) ?? ''
  return labels.length > 1 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(top)
}
