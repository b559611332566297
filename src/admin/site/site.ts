import { readFileSync } from 'node:fs'
import { acceptsGzip } from '../../http/negotiation.ts'
import { type HttpResponse, page as pageResponse } from '../../http/response.ts'
import { currentLanguage } from '../../languages/language.ts'
import { toHex } from '../../lib/colour.ts'
import { AppError } from '../../lib/errors.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { type Asset, asset, createAssets, initialOf, plainStyle } from '../../web/site/assets.ts'
import { csrfInput, notice } from '../../web/site/form.ts'
import type { AdminContext } from '../http/context.ts'

/** The tabs, in their order. */
const TABS = [
  { path: '/', title: 'Users' },
  { path: '/events', title: 'Events' },
  { path: '/deliveries', title: 'Deliveries' },
  { path: '/clients', title: 'Clients' },
  { path: '/system', title: 'System' },
] as const

export type Tab = (typeof TABS)[number]['title']

interface AdminPage {
  title: string
  /** The page belongs to this tab. */
  tab?: Tab | undefined
  body: HtmlFragment
  /** True: a form had an error. The title then says so, since screen readers read it first. */
  isWrong?: boolean
  status?: number
  /** True: the page has a button for passkeys. */
  passkeys?: boolean
}

interface Card extends Omit<AdminPage, 'tab' | 'status'> {
  /** More for the head of the document. */
  head?: HtmlFragment
}

/** The frame of all pages: it looks as those of the users do, without a logo, which may lie elsewhere. */
export interface AdminSite {
  appName: string
  /** Makes a page for an operator. */
  page(context: AdminContext, page: AdminPage): HttpResponse
  document(context: AdminContext, page: Omit<AdminPage, 'status'>): string
  /** Makes a document with one card, for a browser that has not come in. */
  card(at: (path: string) => string, card: Card): string
  /** Answers requests for stylesheets, scripts and the icon. */
  handleAsset(context: AdminContext): HttpResponse
}

interface SiteSettings {
  appName: string
  accentColor: string
  hasClients: boolean
}

const STYLE = new URL('./admin.css', import.meta.url)

const ONE_YEAR_SECONDS = 31_536_000

const meOf = ({ operator, csrfToken, at }: AdminContext): HtmlFragment => {
  const { name, role } = operator
  const what = role === 'change' ? 'may change' : 'only looks'
  if (name === undefined) return html`<p class="me">on this machine · ${what}</p>`
  return html`<div class="me"><a href="${at('/passkeys')}">${name}</a> <span>${what}</span>
<form method="post" action="${at('/sign-out')}">${csrfInput(csrfToken)}<button class="svc-button second small">Sign out</button></form></div>`
}

export const createAdminSite = ({ appName, accentColor, hasClients }: SiteSettings): AdminSite => {
  const { theme, style, script, icon, passkeys: passkeysOf } = createAssets({ appName, accentColor })
  const passkeys = passkeysOf()
  const own = asset('admin', 'css', 'text/css; charset=utf-8', plainStyle(readFileSync(STYLE, 'utf8')))
  const files = new Map([style, own, script, passkeys, icon].map((each) => [fileOf(each), each]))

  const headOf = (
    at: (path: string) => string,
    { title, isWrong, passkeys: hasPasskeys, head }: Omit<Card, 'body'>,
  ) => {
    const to = (each: Asset): string => at(`/assets/${fileOf(each)}`)
    return html`<!doctype html>
<html lang="${currentLanguage().tag}">
<head>
<meta charset="utf-8">
<title>${isWrong === true && 'Error: '}${title} &#183; ${appName} administration</title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="theme-color" content="${toHex(theme.light.wash)}" media="(prefers-color-scheme:light)">
<meta name="theme-color" content="${toHex(theme.dark.wash)}" media="(prefers-color-scheme:dark)">
${[style, own].map((each) => html`<link rel="stylesheet" href="${to(each)}">\n`)}<link rel="icon" href="${to(icon)}" type="image/svg+xml">
<script src="${to(script)}" defer></script>${hasPasskeys === true && html`\n<script src="${to(passkeys)}" defer></script>`}${head}
</head>
<body>
`
  }

  const brandOf = (at: (path: string) => string): HtmlFragment =>
    html`<a class="brand" href="${at('/')}"><span class="mark" aria-hidden="true">${initialOf(appName)}</span><span>${appName} <span class="place">administration</span></span></a>`

  const tabsOf = ({ at }: AdminContext, current: Tab | undefined): HtmlFragment =>
    html`<nav class="tabs" aria-label="Administration">
${TABS.filter(({ title }) => hasClients || title !== 'Clients').map(
  ({ path, title }) =>
    html`<a href="${at(path)}"${title === current && html` aria-current="page"`}>${title}</a>
`,
)}</nav>`

  const document: AdminSite['document'] = (context, given) =>
    html`${headOf(context.at, given)}<div class="admin">
<header class="bar">${brandOf(context.at)}${meOf(context)}</header>
${tabsOf(context, given.tab)}
<main>
${notice(context.done)}${given.body}
</main>
</div>
</body>
</html>
`.toString()

  return {
    appName,

    page: (context, { status = 200, ...given }) => pageResponse(status, document(context, given)),
    document,

    card: (at, { body, ...rest }) =>
      html`${headOf(at, rest)}<div class="svc-card card">
<header>${brandOf(at)}</header>
<main>
<h1>${rest.title}</h1>
${body}
</main>
</div>
</body>
</html>
`.toString(),

    handleAsset({ parameters: { file = '' }, headers }) {
      const found = files.get(file)
      if (!found) throw new AppError('not_found', 'There is nothing here.')
      const { contentType, body, gzipped } = found
      const plain = {
        status: 200,
        contentType,
        body,
        cacheSeconds: ONE_YEAR_SECONDS,
        headers: ['vary', 'accept-encoding'],
      }
      return acceptsGzip(headers) ? { ...plain, gzipped: gzipped() } : plain
    },
  }
}

const fileOf = ({ path }: Asset): string => path.slice(path.lastIndexOf('/') + 1)
