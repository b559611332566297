import { type HtmlFragment, type HtmlValue, html } from '../lib/html.ts'
import { numberText } from './formats.ts'
import en from './en.json' with { type: 'json' }

/** A text of pages or messages has one of these keys, which name its place. */
export type TextKey = Exclude<keyof typeof en, 'reviewed'>

/** A plural has a text for each form of `Intl.PluralRules`: `mail.life.hours_one`, `mail.life.hours_other`. */
type PluralKey = TextKey extends infer Key ? (Key extends `${infer Start}_other` ? Start : never) : never

/** Texts have places for these: `{email}`. What is put in is not read for places. */
export type TextValues = Readonly<Record<string, string | number | undefined>>

/** Gives the texts of one language. Throws a `TypeError` if the value for a place is missing. */
export interface Texts {
  (key: TextKey, values?: TextValues): string
  /** Finds the key of the plural form for a number. */
  formOf(key: PluralKey, count: number): TextKey
  /** Gives the plural form for a number, which is also the value of `{count}`. */
  plural(key: PluralKey, count: number, values?: TextValues): string
  /** Takes HTML as values too, such as an address in bold type. Everything else is escaped. */
  html(key: TextKey, values: Readonly<Record<string, HtmlValue>>): HtmlFragment
}

const PLACE = /\{(\w+)\}/

export const createTexts = (catalogue: Readonly<Record<string, string | null>>, language: string): Texts => {
  let plurals: Intl.PluralRules | undefined

  const read = new Map<string, readonly string[]>()

  /** Splits a text, once, into pieces: every second one is the name of a place. */
  const piecesOf = (key: string): readonly string[] => {
    const known = read.get(key)
    if (known) return known
    const pieces = (catalogue[key] ?? missing(key)).split(PLACE)
    read.set(key, pieces)
    return pieces
  }

  const fillEach = <Value>(key: string, values: Readonly<Record<string, Value>>) =>
    piecesOf(key).map((piece, index) => (index % 2 === 0 ? piece : (values[piece] ?? missing(`${key} {${piece}}`))))

  const fill = (key: string, values: TextValues): string => {
    const pieces = piecesOf(key)
    return pieces.length === 1 ? (pieces[0] ?? '') : fillEach(key, values).join('')
  }

  const fillWithHtml = (key: TextKey, values: Readonly<Record<string, HtmlValue>>): HtmlFragment =>
    html`${fillEach(key, values)}`

  const formOf = (key: PluralKey, count: number): TextKey => {
    plurals ??= new Intl.PluralRules(language)
    const form = `${key}_${plurals.select(count)}`
    return (form in catalogue ? form : `${key}_other`) as TextKey
  }

  const plural = (key: PluralKey, count: number, values?: TextValues): string =>
    fill(formOf(key, count), { count: numberText(count), ...values })

  return Object.assign((key: TextKey, values: TextValues = {}) => fill(key, values), {
    formOf,
    plural,
    html: fillWithHtml,
  })
}

const missing = (what: string): never => {
  throw new TypeError(`There is no text for ${what}`)
}

export const t = createTexts(en, 'en')
