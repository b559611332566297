import type { HtmlValue } from '../lib/html.ts'
import type { PluralKey, TextKey, Texts, TextValues } from './catalogue.ts'
import { currentLanguage } from './language.ts'

export type { TextKey, TextValues } from './catalogue.ts'

/** Gives the texts of the current language. */
export const t: Texts = Object.assign((key: TextKey, values?: TextValues) => currentLanguage().texts(key, values), {
  formOf: (key: PluralKey, count: number) => currentLanguage().texts.formOf(key, count),
  plural: (key: PluralKey, count: number, values?: TextValues) => currentLanguage().texts.plural(key, count, values),
  added: (key: string, values: TextValues) => currentLanguage().texts.added(key, values),
  html: (key: TextKey, values: Readonly<Record<string, HtmlValue>>) => currentLanguage().texts.html(key, values),
})
