import { type HtmlFragment, html } from '../lib/html.ts'
import { type Asset, initialOf } from './assets.ts'
import { toHex } from './colour.ts'
import { texts } from './texts.ts'
import type { Palette } from './theme.ts'

/** The configured appearance. */
export interface Branding {
  appName: string
  /** An http(s) address, or a path on this origin. */
  logoUrl: string | undefined
  /** `#rrggbb` */
  accentColor: string
}

interface LayoutDeps {
  theme: { light: Palette; dark: Palette }
  style: Asset
  script: Asset
  icon: Asset
}

/** The content of one page. */
interface Page {
  title: string
  /** Whether the form had an error. The title then says so, since screen readers read it first. */
  wrong?: boolean
  /** Whether the page has a password field, which needs the script. */
  scripted?: boolean
  body: HtmlFragment
}

interface Panel extends Page {
  /** Shown above the heading: the status of an error, or the interrupted action. */
  over?: string | undefined
  below?: HtmlFragment | undefined
}

export interface Layout {
  appName: string
  /** The logo or name, with a link to the application. */
  brand: HtmlFragment
  /** Renders a whole document. */
  document(page: Page): string
  /** Renders a document with one heading, one panel, and a line with links below. */
  panel(page: Panel): string
}

const brandOf = ({ appName, logoUrl }: Branding): HtmlFragment =>
  logoUrl
    ? html`<a class="brand" href="/"><img src="${logoUrl}" alt="${appName}"></a>`
    : html`<a class="brand" href="/"><span class="mark" aria-hidden="true">${initialOf(appName)}</span>${appName}</a>`

const headOf = ({ theme, style, icon }: LayoutDeps, appName: string): HtmlFragment => html`
<meta name="description" content="${texts.documentDescription(appName)}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="${toHex(theme.light.wash)}" media="(prefers-color-scheme:light)">
<meta name="theme-color" content="${toHex(theme.dark.wash)}" media="(prefers-color-scheme:dark)">
<link rel="stylesheet" href="${style.path}">
<link rel="icon" href="${icon.path}" type="image/svg+xml">`

/** Creates the frame of all pages. The parts that all pages share are rendered once. */
export const createLayout = (branding: Branding, deps: LayoutDeps): Layout => {
  const { appName } = branding
  const head = headOf(deps, appName)
  const brand = brandOf(branding)
  const script = html`
<script src="${deps.script.path}" defer></script>`

  const document: Layout['document'] = ({ title, wrong = false, scripted = false, body }) => {
    const named = texts.documentTitle(title, appName)
    return html`<!doctype html>
<html lang="${texts.lang}">
<head>
<meta charset="utf-8">
<title>${wrong ? texts.documentTitleWrong(named) : named}</title>${head}${scripted && script}
</head>
<body>
${body}
</body>
</html>
`.toString()
  }

  const panel: Layout['panel'] = ({ over, below, ...page }) =>
    document({
      ...page,
      body: html`<div class="card">
<header>${brand}</header>
<main>
${
  over &&
  html`<p class="over">${over}</p>
`
}<h1>${page.title}</h1>
<div class="panel">
${page.body}
</div>
${
  below &&
  html`<p class="below">${below}</p>
`
}</main>
</div>`,
    })

  return { appName, brand, document, panel }
}
