import { type HtmlFragment, type HtmlValue, html } from '../lib/html.ts'
import en from './en.json' with { type: 'json' }

/** A text of pages or messages has one of these keys, which name its place. */
export type TextKey = Exclude<keyof typeof en, 'reviewed'>

/** A plural has a text for each form of `Intl.PluralRules`: `mail.life.hours_one`, `mail.life.hours_other`. */
export type PluralKey = TextKey extends infer Key ? (Key extends `${infer Start}_other` ? Start : never) : never

/** Texts have places for these: `{email}`. What is put in is not read for places. */
export type TextValues = Readonly<Record<string, string | number | undefined>>

/** Gives texts. Throws a `TypeError` if the value for a place is missing. */
export interface Texts {
  (key: TextKey, values?: TextValues): string
  /** Finds the key of the plural form for a number. */
  formOf(key: PluralKey, count: number): TextKey
  /** Gives the plural form for a number, which is also the value of `{count}`. */
  plural(key: PluralKey, count: number, values?: TextValues): string
  /** Gives a text that an operator may have added; undefined if there is none. */
  added(key: string, values: TextValues): string | undefined
  /** Takes HTML as values too, such as an address in bold type. Everything else is escaped. */
  html(key: TextKey, values: Readonly<Record<string, HtmlValue>>): HtmlFragment
}

/** These are the texts of one language by their keys, and who has read them. */
export type Catalogue = Readonly<Record<string, string | null>>

const PLACE = /\{(\w+)\}/

/** Numbers have these formats. */
interface NumberFormats {
  numbers(): Intl.NumberFormat
  plurals(): Intl.PluralRules
}

/** Makes the texts of one language. */
export const createTexts = (catalogue: Catalogue, formats: NumberFormats, direction: 'ltr' | 'rtl' = 'ltr'): Texts => {
  const read = new Map<string, readonly string[]>()

  /** Splits a text, once, into pieces: every second one is the name of a place. */
  const piecesOf = (key: string): readonly string[] => {
    const known = read.get(key)
    if (known) return known
    const pieces = (catalogue[key] ?? missing(key)).split(PLACE)
    read.set(key, pieces)
    return pieces
  }

  /** An address or a name among words from right to left turns nothing around it, and nothing turns it. */
  const fillEach = <Value, Put>(
    key: string,
    values: Readonly<Record<string, Value>>,
    isolate: (value: Value) => Put,
  ): (string | Value | Put)[] =>
    piecesOf(key).map((piece, index) => {
      if (index % 2 === 0) return piece
      const value = values[piece] ?? missing(`${key} {${piece}}`)
      return direction === 'rtl' ? isolate(value) : value
    })

  const fill = (key: string, values: TextValues): string => {
    const pieces = piecesOf(key)
    return pieces.length === 1 ? (pieces[0] ?? '') : fillEach(key, values, (value) => `\u2068${value}\u2069`).join('')
  }

  const fillWithHtml = (key: TextKey, values: Readonly<Record<string, HtmlValue>>): HtmlFragment =>
    html`${fillEach(key, values, (value) => html`<bdi>${value}</bdi>`)}`

  const formOf = (key: PluralKey, count: number): TextKey => {
    const form = `${key}_${formats.plurals().select(count)}`
    return (form in catalogue ? form : `${key}_other`) as TextKey
  }

  const plural = (key: PluralKey, count: number, values?: TextValues): string =>
    fill(formOf(key, count), { count: formats.numbers().format(count), ...values })

  return Object.assign((key: TextKey, values: TextValues = {}) => fill(key, values), {
    formOf,
    plural,
    added: (key: string, values: TextValues) => (Object.hasOwn(catalogue, key) ? fill(key, values) : undefined),
    html: fillWithHtml,
  })
}

const missing = (what: string): never => {
  throw new TypeError(`There is no text for ${what}`)
}
