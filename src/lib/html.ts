/**
 * The symbol is known to this file alone, so that no form and no JSON can make an object that passes for a fragment.
 */
const markup = Symbol('markup')

/** A template made this HTML. No other value goes into a template without being escaped. */
export interface HtmlFragment {
  readonly [markup]: string
  toString(): string
}

/** A template takes these. Text is escaped; undefined and false leave nothing behind. */
export type HtmlValue = string | number | false | undefined | HtmlFragment | readonly HtmlValue[]

/**
 * Makes HTML of a template and escapes its values; attributes must be quoted. Throws `TypeError` on any other value.
 */
export const html = (strings: TemplateStringsArray, ...values: readonly HtmlValue[]): HtmlFragment => {
  let text = strings[0] ?? ''
  for (let index = 0; index < values.length; index += 1) text += render(values[index]) + (strings[index + 1] ?? '')
  return { [markup]: text, toString: fragmentText }
}

function fragmentText(this: HtmlFragment): string {
  return this[markup]
}

const render = (value: HtmlValue): string => {
  if (typeof value === 'string') return escape(value)
  if (typeof value === 'number') return String(value)
  if (value === undefined || typeof value === 'boolean') return ''
  if (Array.isArray(value)) return value.map(render).join('')
  if (isFragment(value)) return value[markup]
  throw new TypeError('A template takes text, numbers and fragments only')
}

/** Tells at run time too whether a value is a fragment: a cast could get a promise or parsed input past the type. */
const isFragment = (value: unknown): value is HtmlFragment =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, markup)

const SPECIAL = /[&<>"']/
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** A loop takes half the time of `replace` with a function. */
const escape = (text: string): string => {
  const first = text.search(SPECIAL)
  if (first < 0) return text
  let escaped = ''
  let copied = 0
  for (let index = first; index < text.length; index += 1) {
    const entity = ENTITIES[text[index] ?? '']
    if (entity === undefined) continue
    escaped += text.slice(copied, index) + entity
    copied = index + 1
  }
  return escaped + text.slice(copied)
}
