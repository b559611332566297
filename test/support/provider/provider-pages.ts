import { type CookieJar, createCookieJar, parseSetCookie } from '../client/cookie-jar.ts'

/** What a user does at a provider: signs in, or cancels. */
export type Choice = 'sign-in' | 'cancel'

/** How a provider sends the browser back: to an address, or with a form that it posts to one. */
export type Callback = { method: 'GET'; url: string } | { method: 'POST'; url: string; form: Record<string, string> }

type Page = { url: URL; html: string }
type Form = { action: URL; fields: Record<string, string>; buttons: string[] }

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }

const unescapeHtml = (text: string): string =>
  text.replaceAll(/&(?:(amp|lt|gt|quot)|#(\d+)|#x([0-9a-f]+));/gi, (_, name, decimal, hexadecimal) =>
    name ? (ENTITIES[name] ?? '') : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16)),
  )

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(String.raw`\s${name}="([^"]*)"`, 'i').exec(tag)?.[1]
  return value === undefined ? undefined : unescapeHtml(value)
}

const formOf = ({ url, html }: Page): Form => {
  const [, opening = '', inside] = /<form([^>]*)>([\s\S]*?)<\/form>/i.exec(html) ?? []
  if (inside === undefined) throw new Error(`the provider showed a page without a form at ${url.href}:\n${html}`)
  const fields: Record<string, string> = {}
  for (const [input] of inside.matchAll(/<input[^>]*>/gi)) {
    const name = attribute(input, 'name')
    if (name !== undefined) fields[name] = attribute(input, 'value') ?? ''
  }
  const buttons = [...inside.matchAll(/<button[^>]*>/gi)].flatMap(([button]) => attribute(button, 'name') ?? [])
  return { action: new URL(attribute(opening, 'action') ?? '', url), fields, buttons }
}

/** Fills in the fields that the page has: other pages of the provider have other forms. */
const filledIn = ({ fields, buttons }: Form, answers: Record<string, string>): Record<string, string> => {
  const asked = Object.entries(answers).filter(([name]) => name in fields || buttons.includes(name))
  return { ...fields, ...Object.fromEntries(asked) }
}

type Step = { url: URL; form?: Record<string, string> }

/**
 * Goes through a provider's pages like a browser without scripts, until one leads to another site. `answers` are put
 * into the fields and buttons of those names; `headers` are sent with each request. Fails on a page without a form.
 */
export const completeProviderPages = async ({
  origin,
  authorizationUrl,
  answers = {},
  headers = {},
  jar = createCookieJar(),
}: {
  origin: string
  authorizationUrl: string | URL
  answers?: Record<string, string>
  headers?: Record<string, string>
  jar?: CookieJar
}): Promise<Callback> => {
  const request = async ({ url, form }: Step): Promise<Response> => {
    const cookie = jar.header(url.pathname)
    const sent = { ...headers, ...(cookie === undefined ? {} : { cookie }) }
    const body = form && { method: 'POST', body: new URLSearchParams(form) }
    const response = await fetch(url, { headers: sent, redirect: 'manual', ...body })
    jar.keep(response.headers.getSetCookie().map(parseSetCookie))
    return response
  }

  const follow = async (step: Step, stepsLeft: number): Promise<Callback> => {
    if (stepsLeft === 0) throw new Error(`the provider leads in circles: ${step.url.href}`)
    const response = await request(step)
    const html = await response.text()
    const location = response.headers.get('location')
    if (location !== null) {
      const url = new URL(location, step.url)
      return url.origin === origin ? follow({ url }, stepsLeft - 1) : { method: 'GET', url: url.href }
    }
    const form = formOf({ url: step.url, html })
    if (form.action.origin !== origin) return { method: 'POST', url: form.action.href, form: form.fields }
    return follow({ url: form.action, form: filledIn(form, answers) }, stepsLeft - 1)
  }
  return follow({ url: new URL(authorizationUrl) }, 20)
}
