import { type HtmlFragment, html } from '../lib/html.ts'
import { type Asset, initialOf } from './assets.ts'
import { toHex } from './colour.ts'
import { texts } from './texts.ts'
import type { Palette } from './theme.ts'

/** What the configuration says about looks. */
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

/** What one page says of itself. */
interface Page {
  title: string
  /** Something was wrong with the form: the title says so, which is the first thing a screen reader reads. */
  wrong?: boolean
  /** The page has a password to show: load the script. */
  scripted?: boolean
  body: HtmlFragment
}

interface Panel extends Page {
  /** Above the heading: the status of an error, or what one was about to do. */
  over?: string | undefined
  below?: HtmlFragment | undefined
}

export interface Layout {
  appName: string
  /** Logo or name, linked to the application. */
  brand: HtmlFragment
  /** A whole document. */
  document(page: Page): string
  /** A document of one heading, one panel, and a line beneath it that leads elsewhere. */
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

/** The frame of all pages: what is the same for each of them is made once. */
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
