import type { Catalogue } from './catalogue.ts'
import en from './en.json' with { type: 'json' }

/**
 * This is the pseudo-language: English with accents, in brackets, and two fifths longer. Text that stands in no file
 * has no accents, and what is cut has no bracket at its end. It is offered where `SVC_LANGUAGES` names it.
 */
export const PSEUDO = 'qps'

const PLAIN = 'ACDEGHIJKLNORSTUWYZacdeghijklnorstuwyz'
const ACCENTED = 'ÀÇÐÉĜĤÎĴĶĻÑÕŔŠŢÛŴÝŽàçðéĝĥîĵķļñõŕšţûŵýž'
const PADDING = 'lõŕéɱ îþšûɱ ðõļõŕ šîţ àɱéţ çõñšéçţéţûŕ àðîþîšçîñĝ éļîţ šéð ðõ éîûšɱõð ţéɱþõŕ îñçîðîðûñţ ûţ ļàƀõŕé '

const accented = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) => ACCENTED[PLAIN.indexOf(letter)] ?? letter)

const paddingFor = (text: string): string => {
  const length = Math.ceil(text.length * 0.4)
  return PADDING.repeat(Math.ceil(length / PADDING.length))
    .slice(0, length)
    .trim()
}

const pseudoText = (text: string): string => {
  const pieces = text.split(/(\{\w+\})/).map((piece, index) => (index % 2 === 0 ? accented(piece) : piece))
  return `[${pieces.join('')} ${paddingFor(text)}]`
}

export const pseudoCatalogue = (): Catalogue =>
  Object.fromEntries(Object.entries(en).map(([key, text]) => [key, text === null ? null : pseudoText(text)]))
