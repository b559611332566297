import { toHex } from '../../lib/colour.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { createTheme, type Palette } from '../../lib/theme.ts'
import type { Block, MessageContent } from './content.ts'
import { messageTexts as texts } from './texts.ts'

interface MessageColours {
  page: string
  card: string
  ink: string
  muted: string
  link: string
  button: string
  label: string
}

const coloursOf = (colours: Palette): MessageColours => {
  const hex = (name: keyof Palette): string => toHex(colours[name])
  return {
    page: `background-color:${hex('page')}`,
    card: `background-color:${hex('surface')};border-color:${hex('line')}`,
    ink: `color:${hex('ink')}`,
    muted: `color:${hex('muted')}`,
    link: `color:${hex('link')}`,
    button: `background-color:${hex('accent')};border-color:${hex('accentEdge')}`,
    label: `color:${hex('accentInk')}`,
  }
}

const rule = ([name, declarations]: [string, string]): string =>
  `.${name}{${declarations
    .split(';')
    .map((declaration) => `${declaration}!important`)
    .join(';')}}`

/**
 * The light colours stand in each element, since some mail programs drop stylesheets; the dark ones are a stylesheet,
 * which wins over them in mail programs that know dark mode.
 */
const messageColours = (accentColor: string): { light: MessageColours; darkCss: string } => {
  const { light, dark } = createTheme(accentColor)
  const rules = Object.entries(coloursOf(dark)).map(rule).join('')
  return { light: coloursOf(light), darkCss: `@media (prefers-color-scheme:dark){${rules}}` }
}

// The names have no quotes, which a style attribute would need to escape.
const FONT = 'font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif'
const TEXT = `margin:0 0 16px;${FONT};font-size:16px;line-height:24px`
const SMALL = `margin:0 0 16px;${FONT};font-size:14px;line-height:20px`
/** Long addresses break at any place if they must, so that no message is wider than the screen. */
const BREAK = 'overflow-wrap:anywhere;word-break:break-word'

/** Makes a table, since all mail programs lay tables out alike. Screen readers pass over the cells. */
const table = (style: string, rows: HtmlFragment | HtmlFragment[]): HtmlFragment =>
  html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="border-collapse:separate;${style}">${rows}</table>
`

const linkHtml = (block: Extract<Block, { kind: 'link' }>, light: MessageColours): HtmlFragment => html`${table(
  'margin:24px 0',
  html`<tr><td class="button" style="${light.button};border-width:1px;border-style:solid;border-radius:8px;mso-padding-alt:12px 16px"><a class="label" href="${block.url}" style="${light.label};display:inline-block;padding:12px 16px;${FONT};font-size:16px;line-height:24px;font-weight:600;text-decoration:none">${block.label}</a></td></tr>`,
)}<p class="muted" style="${light.muted};${SMALL}">${texts.linkBelow}<br>
<span class="link" style="${light.link};${BREAK}">${block.url}</span></p>
${
  block.life &&
  html`<p class="muted" style="${light.muted};${SMALL}">${block.life}</p>
`
}`

const factsHtml = (block: Extract<Block, { kind: 'facts' }>, light: MessageColours): HtmlFragment =>
  table(
    'margin:0 0 16px',
    block.facts.map(
      ([label, value]) =>
        html`<tr><td class="muted" valign="top" style="${light.muted};${SMALL};padding:2px 16px 2px 0">${label}</td><td class="ink" valign="top" style="${light.ink};${SMALL};padding:2px 0;${BREAK}">${value}</td></tr>
`,
    ),
  )

const blockHtml = (block: Block, light: MessageColours): HtmlFragment => {
  if (block.kind === 'link') return linkHtml(block, light)
  if (block.kind === 'facts') return factsHtml(block, light)
  return html`<p class="ink" style="${light.ink};${TEXT};${BREAK}">${block.text}</p>
`
}

const footerHtml = ({ sentBy, help }: MessageContent, light: MessageColours): HtmlFragment =>
  html`<p class="muted" style="${light.muted};${SMALL};${BREAK}">${sentBy}${
    help &&
    html`<br>
${help.lead} <a class="link" href="${help.url}" style="${light.link};${BREAK}">${help.shown}</a>`
  }</p>`

/**
 * Makes the HTML of a message. It loads nothing, and can be read if its stylesheet is dropped. The language stands in
 * the body, too, since mail programs drop the elements around it; Outlook takes a button's padding from the cell.
 */
export const htmlPart = (content: MessageContent, accentColor: string): string => {
  const { light, darkCss } = messageColours(accentColor)
  const { appName, subject, heading, blocks } = content
  const card = html`<tr><td class="card" style="${light.card};border-width:1px;border-style:solid;border-radius:12px;padding:28px 20px 12px">
<h1 class="ink" style="${light.ink};margin:0 0 16px;${FONT};font-size:22px;line-height:28px;font-weight:600;${BREAK}">${heading}</h1>
${blocks.map((block) => blockHtml(block, light))}</td></tr>
`
  const column = table(
    'width:100%;max-width:560px;text-align:left',
    html`
<tr><td style="padding:0 0 16px"><p class="ink" style="${light.ink};margin:0;${FONT};font-size:16px;line-height:24px;font-weight:600;${BREAK}">${appName}</p></td></tr>
${card}<tr><td style="padding:16px 0 0">${footerHtml(content, light)}</td></tr>
`,
  )
  return html`<!doctype html>
<html lang="${texts.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${subject}</title>
<style>
:root{color-scheme:light dark;supported-color-schemes:light dark}
${darkCss}
</style>
</head>
<body class="page" style="${light.page};margin:0;padding:0">
<div role="article" aria-roledescription="email" aria-label="${subject}" lang="${texts.lang}">
${table(
  'width:100%',
  html`<tr><td class="page" align="center" style="${light.page};padding:24px 12px">
${column}</td></tr>`,
)}</div>
</body>
</html>
`.toString()
}
