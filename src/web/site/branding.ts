import { toHex } from '../../lib/colour.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import type { OwnStyle } from '../../lib/own-style.ts'
import { type ColorScheme, type Palette, schemesText } from '../../lib/theme.ts'
import { t } from '../../languages/texts.ts'
import { type Asset, initialOf } from './assets.ts'

export interface Branding {
  appName: string
  /** This is an http(s) address, or a path on this origin. */
  logoUrl: string | undefined
  /** Dark pages have it in place of the other. */
  logoDarkUrl?: string | undefined
  /** By default the icon is made from the name. */
  faviconUrl?: string | undefined
  /** By default it is `auto`. */
  colorScheme?: ColorScheme | undefined
  /** This tells whether the buttons of providers stand above the form; by default they stand below it. */
  providersFirst?: boolean | undefined
  /** It has the form `#rrggbb`. */
  accentColor: string
  /** It lies above the stylesheet of svc. */
  ownStyle?: OwnStyle | undefined
  /** Users get help at this https or mailto address. */
  supportUrl?: string | undefined
  /** These are http(s) addresses, or paths on this origin. */
  termsUrl?: string | undefined
  privacyUrl?: string | undefined
  /** This is the path of the application that the logo leads to; by default `/`. */
  homeUrl?: string | undefined
  /** This tells whether users can ask for links by mail. */
  mailIsOn?: boolean | undefined
  /** This tells whether users have passwords, which texts then name; by default they have. */
  passwords?: boolean | undefined
  /** A new password has at least this many characters, which texts name; by default 8. */
  passwordMinLength?: number | undefined
  /** This tells whether users can have passkeys; by default they can not. */
  passkeys?: boolean | undefined
  /** This tells whether users sign in by mail; by default they do not. */
  emailSignIn?: boolean | undefined
  /** This tells whether users connect applications of others; by default they do not. */
  clients?: boolean | undefined
}

export interface HeadDeps {
  theme: { light: Palette; dark: Palette }
  style: Asset
  ownStyle?: Asset | undefined
  icon: Asset
}

/** Makes the logo; where each reader has their own scheme, that of dark pages is chosen by the browser. */
const logoOf = ({ appName, logoUrl, logoDarkUrl = logoUrl, colorScheme }: Branding): HtmlFragment | undefined => {
  const shown = colorScheme === 'dark' ? logoDarkUrl : logoUrl
  if (shown === undefined) return undefined
  const image = html`<img src="${shown}" alt="${appName}">`
  return logoDarkUrl === logoUrl || (colorScheme ?? 'auto') !== 'auto'
    ? image
    : html`<picture><source srcset="${logoDarkUrl}" media="(prefers-color-scheme:dark)">${image}</picture>`
}

/** Makes the logo or name, with a link to the application. */
export const brandOf = (branding: Branding): HtmlFragment => {
  const { appName, homeUrl = '/' } = branding
  const logo = logoOf(branding)
  return logo
    ? html`<a class="brand" href="${homeUrl}">${logo}</a>`
    : html`<a class="brand" href="${homeUrl}"><span class="mark" aria-hidden="true">${initialOf(appName)}</span>${appName}</a>`
}

const themeColoursOf = ({ light, dark }: HeadDeps['theme'], scheme: ColorScheme): HtmlFragment =>
  scheme === 'auto'
    ? html`<meta name="theme-color" content="${toHex(light.wash)}" media="(prefers-color-scheme:light)">
<meta name="theme-color" content="${toHex(dark.wash)}" media="(prefers-color-scheme:dark)">`
    : html`<meta name="theme-color" content="${toHex((scheme === 'light' ? light : dark).wash)}">`

export const styleLink = ({ path }: Asset): HtmlFragment => html`
<link rel="stylesheet" href="${path}">`

/** Makes the part of the head that all pages share. */
export const headOf = (
  { theme, style, ownStyle, icon }: HeadDeps,
  { appName, colorScheme = 'auto', faviconUrl }: Branding,
): HtmlFragment => html`
<meta name="description" content="${t('page.description', { app: appName })}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="${schemesText(colorScheme)}">
${themeColoursOf(theme, colorScheme)}${styleLink(style)}${ownStyle && styleLink(ownStyle)}
${faviconUrl === undefined ? html`<link rel="icon" href="${icon.path}" type="image/svg+xml">` : html`<link rel="icon" href="${faviconUrl}">`}`
