import { isTagLike } from '../lib/language-tag.ts'

/** A request, an address or a user names languages in this way, the best first. */
export type Ranges = readonly string[]

/** Longer headers and lists come from no browser: what follows is not read. */
const MAX_LENGTH = 1000

/** These names mean one of ours. The first one is an old name, and the others are what people and browsers write. */
const MEANINGS: Readonly<Record<string, string>> = {
  iw: 'he',
  pt: 'pt-br',
  zh: 'zh-hans',
  'zh-cn': 'zh-hans',
  'zh-sg': 'zh-hans',
  'zh-hk': 'zh-hant',
  'zh-mo': 'zh-hant',
  'zh-tw': 'zh-hant',
}

/** Reads `Accept-Language` (RFC 9110 section 12.5.4). Of two ranges with one weight, the first is preferred. */
export const readAcceptLanguage = (header: string | undefined): Ranges => {
  if (!header) return []
  const weighed = header
    .slice(0, MAX_LENGTH)
    .split(',')
    .map((item) => item.split(';').map((part) => part.trim()))
    .map(([range = '', ...parameters]) => ({ range, weight: weightOf(parameters) }))
    .filter(({ range, weight }) => weight > 0 && isTagLike(range))
  return weighed.toSorted((left, right) => right.weight - left.weight).map(({ range }) => range)
}

/** A weight that is not written as RFC 9110 section 12.4.2 wants it counts as none: the range is passed over. */
const weightOf = (parameters: readonly string[]): number => {
  const weight = parameters.find((parameter) => /^q=/i.test(parameter))
  if (weight === undefined) return 1
  const [, number] = /^q=((?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?))$/i.exec(weight) ?? []
  return number === undefined ? 0 : Number(number)
}

/** Reads `ui_locales`: tags in the order of preference, with spaces between them (OpenID Connect Core 3.1.2.1). */
export const readUiLocales = (text: string | undefined): Ranges =>
  text
    ? text
        .slice(0, MAX_LENGTH)
        .split(' ')
        .filter((range) => isTagLike(range))
    : []

/**
 * Finds the tag that suits a list of ranges best (RFC 4647 section 3.4): each range is shortened from its end until a
 * tag is found, before the next range is looked at. Other scripts of Chinese never end at ours.
 */
export const lookUp = (ranges: Ranges, tags: readonly string[]): string | undefined => {
  for (const range of ranges) {
    for (let rest = range.toLowerCase(); rest !== ''; rest = shortened(rest)) {
      if (rest === 'zh' && rest !== range.toLowerCase()) break
      const meant = tagOf(rest, tags) ?? tagOf(MEANINGS[rest], tags)
      if (meant !== undefined) return meant
    }
  }
  return undefined
}

const tagOf = (wanted: string | undefined, tags: readonly string[]): string | undefined =>
  wanted === undefined ? undefined : tags.find((tag) => tag.length === wanted.length && tag.toLowerCase() === wanted)

/** A single letter or digit goes with what follows it. */
const shortened = (range: string): string => range.replace(/(?:-[a-z\d])?-[a-z\d]+$|^[a-z]+$/, '')
