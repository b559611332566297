import { toHex } from '../../lib/colour.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { createTheme, type Palette, schemesText } from '../../lib/theme.ts'
import type { Block, MessageBranding, MessageContent } from './content.ts'
import { currentLanguage } from '../../languages/language.ts'
import { t } from '../../languages/texts.ts'

interface MessageColours {
  page: string
  card: string
  ink: string
  muted: string
  link: string
  facts: string
  /** These are the first button and its label. */
  button: string
  label: string
  /** This is the quiet button of a way back; its label has the colour of text. */
  quiet: string
}

const coloursOf = (colours: Palette): MessageColours => {
  const hex = (name: keyof Palette): string => toHex(colours[name])
  return {
    page: `background-color:${hex('page')}`,
    card: `background-color:${hex('surface')};border-color:${hex('line')}`,
    ink: `color:${hex('ink')}`,
    muted: `color:${hex('muted')}`,
    link: `color:${hex('link')}`,
    facts: `background-color:${hex('page')};border-color:${hex('line')}`,
    button: `background-color:${hex('accent')};border-color:${hex('accentEdge')}`,
    label: `color:${hex('accentInk')}`,
    quiet: `background-color:${hex('hover')};border-color:${hex('edge')}`,
  }
}

/** Outlook marks what it has recoloured with `data-ogsc` for text and `data-ogsb` for grounds, and has no media query. */
const outlookRule = (name: string, declaration: string): string =>
  `[data-ogs${declaration.startsWith('color:') ? 'c' : 'b'}] .${name}{${declaration}!important}`

type Look = Pick<MessageBranding, 'accentColor' | 'colorScheme' | 'ownStyle'>

interface Colours {
  usual: MessageColours
  darkCss: string
}

/**
 * The light colours stand in each element, since some mail programs drop stylesheets; the dark ones are a stylesheet,
 * which wins over them in mail programs that know dark mode. Where there is one scheme, there is no stylesheet.
 */
const messageColours = ({ accentColor, colorScheme = 'auto', ownStyle }: Look): Colours => {
  const { light, dark } = createTheme(accentColor, ownStyle)
  if (colorScheme !== 'auto') return { usual: coloursOf(colorScheme === 'light' ? light : dark), darkCss: '' }
  const rules = Object.entries(coloursOf(dark)).map(([name, all]: [string, string]) => [name, all.split(';')] as const)
  const media = rules.map(([name, all]) => `.${name}{${all.map((one) => `${one}!important`).join(';')}}`)
  const outlook = rules.flatMap(([name, all]) => all.map((one) => outlookRule(name, one)))
  return {
    usual: coloursOf(light),
    darkCss: `@media (prefers-color-scheme:dark){${media.join('')}}\n${outlook.join('\n')}`,
  }
}

// The names have no quotes, which a style attribute would need to escape.
const FONT = 'font-family:-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif'
const TEXT = `margin:0 0 16px;${FONT};font-size:16px;line-height:24px`
const SMALL = `margin:0 0 16px;${FONT};font-size:14px;line-height:20px`
const TINY = `margin:0 0 16px;${FONT};font-size:13px;line-height:20px`
/** Long addresses break at any place if they must, so that no message is wider than the screen. */
const BREAK = 'overflow-wrap:anywhere;word-break:break-word'

/** Makes a table, since all mail programs lay tables out alike. Screen readers pass over the cells. */
const table = (style: string, rows: HtmlFragment | HtmlFragment[]): HtmlFragment =>
  html`<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="border-collapse:separate;${style}">${rows}</table>
`

type LinkBlock = Extract<Block, { kind: 'link' }>

const linkHtml = ({ isFirst, label, url, life }: LinkBlock, light: MessageColours): HtmlFragment => {
  const [cell, text] = isFirst ? (['button', 'label'] as const) : (['quiet', 'ink'] as const)
  return html`${table(
    'margin:24px 0 16px',
    html`<tr><td class="${cell}" style="${light[cell]};border-width:1px;border-style:solid;border-radius:8px;mso-padding-alt:11px 20px"><a class="${text}" href="${url}" style="${light[text]};display:inline-block;padding:11px 20px;${FONT};font-size:16px;line-height:24px;font-weight:600;text-decoration:none">${label}</a></td></tr>`,
  )}${
    life &&
    html`<p class="muted" style="${light.muted};${SMALL}">${life}</p>
`
  }`
}

/** Readers whose mail program shows no button copy the address, which stands below everything else. */
const plainLinkHtml = ({ orOpen, url }: LinkBlock, light: MessageColours): HtmlFragment =>
  html`<p class="muted" style="${light.muted};${TINY}">${orOpen}<br>
<span class="link" dir="ltr" style="${light.link};${BREAK}">${url}</span></p>
`

const factsHtml = ({ facts }: Extract<Block, { kind: 'facts' }>, light: MessageColours): HtmlFragment =>
  html`<table role="presentation" class="facts" width="100%" cellpadding="0" cellspacing="0" border="0" style="${light.facts};border-width:1px;border-style:solid;border-radius:8px;border-collapse:separate;margin:0 0 16px;padding:8px 0">${facts.map(
    ([label, value]) =>
      html`<tr><td class="muted" valign="top" style="${light.muted};${SMALL};padding:4px 12px;white-space:nowrap">${label}</td><td class="ink" valign="top" width="100%" style="${light.ink};${SMALL};padding:4px 12px;${BREAK}">${currentLanguage().direction === 'rtl' ? html`<bdi>${value}</bdi>` : value}</td></tr>
`,
  )}</table>
`

const blockHtml = (block: Block, light: MessageColours): HtmlFragment => {
  if (block.kind === 'link') return linkHtml(block, light)
  if (block.kind === 'facts') return factsHtml(block, light)
  if (block.kind === 'code') return codeHtml(block, light)
  return html`<p class="ink" style="${light.ink};${TEXT};${BREAK}">${block.text}</p>
`
}

/** The digits stand in one piece, so that mail programs recognise a code, and a double click takes all of it. */
const codeHtml = ({ code }: Extract<Block, { kind: 'code' }>, light: MessageColours): HtmlFragment =>
  table(
    'margin:0 0 16px',
    html`<tr><td class="facts" style="${light.facts};border-width:1px;border-style:solid;border-radius:8px;padding:12px 20px"><span class="ink" style="${light.ink};font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:28px;line-height:36px;font-weight:600;letter-spacing:4px">${code}</span></td></tr>`,
  )

const footerHtml = ({ sentBy, support }: MessageContent, light: MessageColours): HtmlFragment =>
  html`<p class="muted" style="${light.muted};${TINY};${BREAK}">${sentBy}${
    support &&
    html`<br>
${support.label} <a class="link" href="${support.url}" style="${light.link};${BREAK}">${support.shown}</a>`
  }</p>`

/** Word lays out mail on Windows, knows no `max-width`, and reads these comments. */
const WIDTH_IN_WORD = html`<!--[if mso]><table role="presentation" width="560" cellpadding="0" cellspacing="0"><tr><td><![endif]-->`
const END_IN_WORD = html`<!--[if mso]></td></tr></table><![endif]-->`

const columnHtml = (content: MessageContent, light: MessageColours): HtmlFragment => {
  const { appName, title, blocks } = content
  const card = html`<tr><td class="card" style="${light.card};border-width:1px;border-style:solid;border-radius:12px;padding:28px 20px 12px">
<p class="muted" style="${light.muted};${SMALL};margin:0 0 4px;font-weight:600;${BREAK}">${appName}</p>
<h1 class="ink" style="${light.ink};margin:0 0 16px;${FONT};font-size:22px;line-height:28px;font-weight:600;${BREAK}">${title}</h1>
${blocks.map((block) => blockHtml(block, light))}${blocks.map((block) => block.kind === 'link' && plainLinkHtml(block, light))}</td></tr>
`
  return table(
    `width:100%;max-width:560px;text-align:${currentLanguage().direction === 'rtl' ? 'right' : 'left'}`,
    html`
${card}<tr><td style="padding:16px 21px 0">${footerHtml(content, light)}</td></tr>
`,
  )
}

/** The inbox shows the beginning of this beside the subject, in place of the heading, which says the same. */
const previewHtml = ({ blocks }: MessageContent): HtmlFragment => {
  const first = blocks.find((block) => block.kind === 'paragraph')
  return html`<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${first?.text}</div>`
}

/**
 * Makes the HTML of a message. It loads nothing, and can be read if its stylesheet is dropped. The language stands in
 * the body, too, since mail programs drop the elements around it; Outlook takes a button's padding from the cell.
 */
export const htmlPart = (content: MessageContent, look: Look): string => {
  const { usual: light, darkCss } = messageColours(look)
  const schemes = schemesText(look.colorScheme ?? 'auto')
  const { title } = content
  const { tag, direction } = currentLanguage()
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="${schemes}">
<meta name="supported-color-schemes" content="${schemes}">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${title}</title>
<style>
:root{color-scheme:${schemes};supported-color-schemes:${schemes}}
${darkCss}
</style>
</head>
<body class="page" style="${light.page};margin:0;padding:0">
${previewHtml(content)}
<div role="article" aria-roledescription="${t('mail.role')}" aria-label="${title}" lang="${tag}" dir="${direction}">
${table(
  'width:100%',
  html`<tr><td class="page" align="center" style="${light.page};padding:24px 12px">
${WIDTH_IN_WORD}
${columnHtml(content, light)}${END_IN_WORD}</td></tr>`,
)}</div>
</body>
</html>
`.toString()
}
