import { types } from 'node:util'
import { html as escapingTemplate } from 'hono/html'

declare const escaped: unique symbol

/** HTML that a template made: the only thing that goes into another template as it is. */
export interface HtmlFragment {
  readonly [escaped]: true
  toString(): string
}

/** What a template takes. Text and numbers are escaped; undefined and false leave nothing behind. */
export type HtmlValue = string | number | false | undefined | HtmlFragment | readonly HtmlValue[]

/** Templates make String objects, and no parser of forms or JSON does: `email[isEscaped]=1` cannot pose as one. */
const isFragment = (value: unknown): value is HtmlFragment => types.isStringObject(value)

const refuseForeignObjects = (value: HtmlValue): void => {
  if (typeof value !== 'object') return
  if (Array.isArray(value)) value.forEach(refuseForeignObjects)
  else if (!isFragment(value)) throw new TypeError('A template takes text, numbers and fragments only')
}

/** Makes HTML of a template, all values escaped (attributes must stand in quotes). Throws on promises and objects. */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): HtmlFragment => {
  for (const value of values) refuseForeignObjects(value)
  const made: unknown = escapingTemplate(strings, ...values)
  if (!isFragment(made)) throw new TypeError('A template took a promise')
  return made
}
