import type { Answer } from '../client/user-agent.ts'
import { codeAt } from '../second-factor/authenticator-app.ts'

/** The fields of a form, with the values of those that the user does not fill in. */
type FormFields = [name: string, value: string | undefined][]

/**
 * What the service has given out, by the name under which it is sent back: a fuzzer that knows nothing genuine gets no
 * further than the first check.
 */
export interface Pantry {
  keep(name: string, value: string): void
  /** One of the last values; undefined where there was none. */
  take(name: string, at: number): string | undefined
  /** A value that was never sent before. */
  fresh(name: string): string
  /** One of the forms that pages have shown for this address, with a value for each field. */
  form(path: string, at: number): [name: string, value: string][]
  /** Keeps the forms, links, cookies, codes and ids of a response. */
  harvest(answer: Answer): void
  harvestLinks(text: string): void
}

/** Of each name: old values stay in reach, since used and replaced ones are as interesting as good ones. */
const KEPT = 6
const HARVESTED = 20

/** What these fields take, whatever the form. */
const KINDS: Record<string, string> = { new_password: 'password', current_password: 'password' }

const FRESH: Record<string, (count: number) => string> = {
  email: (count) => `fresh${count}@example.com`,
  username: (count) => `fresh${count}`,
  password: (count) => `fresh pass phrase ${count}`,
}

const unescapeHtml = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&')

const attributeOf = (tag: string, name: string): string | undefined => {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : unescapeHtml(value)
}

const readForms = (html: string): [action: string, FormFields][] =>
  [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, tag = '', inside = '']) => {
    const inputs = [...inside.matchAll(/<(input|button)\b([^>]*)>/g)].flatMap(
      ([, kind, attributes = '']): FormFields => {
        const name = attributeOf(attributes, 'name')
        const isFilledIn = kind === 'input' && attributeOf(attributes, 'type') !== 'hidden'
        return name === undefined ? [] : [[name, isFilledIn ? undefined : attributeOf(attributes, 'value')]]
      },
    )
    // A browser sends the button that was pressed, and of several with one name no other.
    const names = inputs.map(([name]) => name)
    const sent = inputs.filter(([name], at) => names.indexOf(name) === at)
    return [(attributeOf(tag, 'action') ?? '').split('?', 1).join(''), sent]
  })

/** `forbidden`: what belongs to a user whom no request may name. */
export const createPantry = (forbidden: readonly string[]): Pantry => {
  const shelves = new Map<string, string[]>()
  const forms = new Map<string, FormFields[]>()
  let made = 0

  const keep = (name: string, value: string): void => {
    if (value === '' || forbidden.some((text) => value.includes(text))) return
    const kind = KINDS[name] ?? name
    const others = (shelves.get(kind) ?? []).filter((other) => other !== value)
    shelves.set(kind, [value, ...others].slice(0, KEPT))
  }
  const keepAll = (text: string, pattern: RegExp): void => {
    for (const [, name = '', value = ''] of [...text.matchAll(pattern)].slice(0, HARVESTED))
      if (name !== 'password') keep(name, unescapeHtml(value))
  }
  const keepForms = (html: string): void => {
    for (const [action, fields] of readForms(html)) {
      for (const [name, value] of fields) if (value !== undefined) keep(name, value)
      const sameNames = ([...others]: FormFields) =>
        others.map(([name]) => name).join() === fields.map(([name]) => name).join()
      const others = (forms.get(action) ?? []).filter((form) => !sameNames(form))
      forms.set(action, [fields, ...others].slice(0, KEPT))
    }
    const secret = /<code>([A-Z2-7 ]{39})<\/code>/.exec(html)?.[1]?.replaceAll(' ', '')
    if (secret !== undefined) keep('code', codeAt(secret, Date.now()))
    for (const [, code = ''] of html.matchAll(/<li><code>([^<]+)<\/code>/g)) keep('code', code)
  }
  const take = (name: string, at: number): string | undefined => {
    const shelf = shelves.get(KINDS[name] ?? name) ?? []
    return shelf[at % Math.max(1, shelf.length)]
  }
  const fresh = (name: string): string => FRESH[KINDS[name] ?? name]?.((made += 1)) ?? String((made += 1))
  const harvestLinks = (text: string): void => keepAll(text, /[?&](?:amp;)?(token|pending|state|code)=([\w.-]+)/g)

  return {
    keep,
    take,
    fresh,
    form: (path, at) => {
      const known = forms.get(path) ?? []
      const fields = known[at % Math.max(1, known.length)] ?? []
      return fields.map(([name, value]) => [name, value ?? take(name, 0) ?? fresh(name)])
    },
    harvest: ({ text, setCookies, headers, location }) => {
      for (const { name, value } of setCookies) keep(name, value)
      if (/html/.test(headers['content-type'] ?? '')) keepForms(text)
      else keepAll(text, /"(id|challenge|next_cursor|email|username)":"([^"]+)"/g)
      harvestLinks(`${location ?? ''}\n${text}`)
    },
    harvestLinks,
  }
}
