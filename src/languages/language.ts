import { AsyncLocalStorage } from 'node:async_hooks'
import en from './en.json' with { type: 'json' }
import { PSEUDO } from './pseudo.ts'
import { type Catalogue, createTexts, type Texts } from './catalogue.ts'

/** Pages and messages have texts, dates and a direction of this language. */
export interface Language {
  /** This is its tag (BCP 47), such as `pt-BR`. */
  readonly tag: string
  readonly direction: 'ltr' | 'rtl'
  readonly texts: Texts
  readonly formats: Formats
}

/** The language of a request can change while it is handled: once its user is known, it may be theirs. */
export interface Speaking {
  language: Language
  /** This tells whether it was chosen for the browser, and stays. */
  isChosen?: boolean
}

export const createLanguage = (tag: string, catalogue: Catalogue): Language => {
  const formats = createFormats(tag)
  const direction = directionOf(tag)
  return { tag, direction, formats, texts: createTexts(catalogue, formats, direction) }
}

const directionOf = (tag: string): Language['direction'] =>
  new Intl.Locale(tag).getTextInfo().direction === 'rtl' ? 'rtl' : 'ltr'

let english: Language | undefined

/** Gives the English of svc itself, which the command line, logs and the pages for administrators have. */
export const ownEnglish = (): Language => {
  english ??= { ...createLanguage('en', en), direction: 'ltr' }
  return english
}

const speaking = new AsyncLocalStorage<Speaking>()

/** Gives the language in which texts are made now. It is our own English where nothing else was entered. */
export const currentLanguage = (): Language => speaking.getStore()?.language ?? ownEnglish()

/** Gives the tag of the language that was entered. */
export const spokenTag = (): string | undefined => speaking.getStore()?.language.tag

/** Runs `action`, and all that it waits for, in a language. */
export const inLanguage = <Result>(language: Language | Speaking, action: () => Result): Result =>
  speaking.run('language' in language ? language : { language }, action)

/** Goes on in another language for the request that is handled, unless the one that it has was chosen. */
export const speakTo = (language: Language, isChosen = false): void => {
  const current = speaking.getStore()
  if (current && !current.isChosen) Object.assign(current, { language, isChosen })
}

/**
 * Makes something that holds texts once for each language, when it is first used in it. Whatever renders texts before
 * it knows who asks for them is made by this.
 */
export const perLanguage = <Args extends readonly unknown[], Result>(
  create: () => (...args: Args) => Result,
): ((...args: Args) => Result) => {
  const made = new WeakMap<Language, (...args: Args) => Result>()
  return (...args) => {
    const language = currentLanguage()
    let own = made.get(language)
    if (own === undefined) {
      own = create()
      made.set(language, own)
    }
    return own(...args)
  }
}

/** These are the formats of one language. Each is created at its first use, since they would slow down the start. */
export interface Formats {
  numbers(): Intl.NumberFormat
  alternatives(): Intl.ListFormat
  lists(): Intl.ListFormat
  moments(): Intl.DateTimeFormat
  shortMoments(): Intl.DateTimeFormat
  days(): Intl.DateTimeFormat
  past(): Intl.RelativeTimeFormat
  future(): Intl.RelativeTimeFormat
  plurals(): Intl.PluralRules
  units(unit: Unit): Intl.NumberFormat
}

export type Unit = 'second' | 'minute' | 'hour' | 'day'

const lazy = <Format>(create: () => Format): (() => Format) => {
  let format: Format | undefined
  return () => (format ??= create())
}

/** The month has a name: its number would turn the others in some languages. */
const DAY = { day: 'numeric', year: 'numeric', timeZone: 'UTC' } as const

const MOMENT = {
  ...DAY,
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
} as const

/** Codes, addresses and digits in texts are Latin, and so are all numbers. English dates begin with the day. */
const localeOf = (tag: string): string => (tag === 'en' || tag === PSEUDO ? 'en-GB' : `${tag}-u-nu-latn`)

const createFormats = (tag: string): Formats => {
  const locale = localeOf(tag)
  const units = new Map<Unit, Intl.NumberFormat>()
  return {
    numbers: lazy(() => new Intl.NumberFormat(locale)),
    alternatives: lazy(() => new Intl.ListFormat(locale, { type: 'disjunction' })),
    lists: lazy(() => new Intl.ListFormat(locale)),
    moments: lazy(() => new Intl.DateTimeFormat(locale, { ...MOMENT, month: 'long' })),
    shortMoments: lazy(() => new Intl.DateTimeFormat(locale, { ...MOMENT, month: 'short' })),
    days: lazy(() => new Intl.DateTimeFormat(locale, { ...DAY, month: 'short' })),
    past: lazy(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })),
    future: lazy(() => new Intl.RelativeTimeFormat(locale)),
    plurals: lazy(() => new Intl.PluralRules(locale)),
    units(unit) {
      const format = units.get(unit) ?? new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' })
      units.set(unit, format)
      return format
    },
  }
}
