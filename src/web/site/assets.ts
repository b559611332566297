import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { currentLanguage, perLanguage } from '../../languages/language.ts'
import { toHex } from '../../lib/colour.ts'
import { html } from '../../lib/html.ts'
import type { OwnStyle } from '../../lib/own-style.ts'
import { type ColorScheme, createTheme, themeCss } from '../../lib/theme.ts'
import { passkeyScriptTexts } from './passkey-texts.ts'

/** This is a file of the pages. Its path changes with its content, so that browsers may cache it without a limit. */
export interface Asset {
  path: `/auth/assets/${string}`
  contentType: string
  body: string
  /** Compresses the body once, when a browser first asks for it. */
  gzipped(): Buffer
}

/** Makes a file, with a hash of its content in its path. */
export const asset = (name: string, extension: string, contentType: string, body: string): Asset => {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12)
  let gzipped: Buffer | undefined
  return {
    path: `/auth/assets/${name}.${hash}.${extension}`,
    contentType,
    body,
    gzipped: () => {
      gzipped ??= gzipSync(body, { level: 9 })
      return gzipped
    },
  }
}

const STYLE = new URL('./style.css', import.meta.url)
const ACCOUNT_STYLE = new URL('../account/account.css', import.meta.url)
const SCRIPT = new URL('./page.js', import.meta.url)
const PASSKEYS = new URL('./passkeys.js', import.meta.url)

/** Finds the first letter of the name, for the tile that is shown if there is no logo. */
export const initialOf = (appName: string): string => (Array.from(appName.trim())[0] ?? '•').toUpperCase()

const iconSvg = (appName: string, ground: string, ink: string): string =>
  html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${ground}"/><text x="16" y="22.5" fill="${ink}" font-family="system-ui,sans-serif" font-size="19" font-weight="650" text-anchor="middle">${initialOf(appName)}</text></svg>`.toString()

/** Removes comments and indentation, since visitors load it. */
const plainScript = (source: string): string => source.replace(/^ *(?:\/\/|\/\*\*).*\n|^ +|^\n/gm, '')

const scriptWithTexts = (source: string, texts: object): string =>
  `'use strict';((texts) => {\n${plainScript(source)}})(${JSON.stringify(texts)})\n`

/** Removes comments and spaces, since visitors load it. */
export const plainStyle = (source: string): string =>
  source
    .replace(/^ *\/\*.*\*\/\n|^ +|\n/gm, '')
    .replaceAll(': ', ':')
    .replaceAll(' {', '{')
    .replaceAll(';}', '}')

interface Look {
  appName: string
  accentColor: string
  colorScheme?: ColorScheme | undefined
  /** It lies above ours, which is in a layer then. */
  ownStyle?: OwnStyle | undefined
}

/** Creates stylesheet, scripts and icon for one look. */
export const createAssets = ({ appName, accentColor, colorScheme = 'auto', ownStyle }: Look) => {
  const theme = createTheme(accentColor, ownStyle)
  const { accent, accentInk } = theme.light
  const styleAsset = (name: string, css: string): Asset =>
    asset(name, 'css', 'text/css; charset=utf-8', ownStyle ? `@layer svc{${css}}` : css)
  return {
    theme,
    style: styleAsset(
      'style',
      themeCss(theme, colorScheme, ownStyle?.unread) + plainStyle(readFileSync(STYLE, 'utf8')),
    ),
    accountStyle: styleAsset('account', plainStyle(readFileSync(ACCOUNT_STYLE, 'utf8'))),
    ownStyle: ownStyle && asset('own', 'css', 'text/css; charset=utf-8', ownStyle.css),
    script: asset('page', 'js', 'text/javascript; charset=utf-8', plainScript(readFileSync(SCRIPT, 'utf8'))),
    /** It has texts of one language. */
    passkeys: perLanguage(() => {
      const { tag } = currentLanguage()
      const source = scriptWithTexts(readFileSync(PASSKEYS, 'utf8'), passkeyScriptTexts())
      const made = asset(tag === 'en' ? 'passkeys' : `passkeys.${tag}`, 'js', 'text/javascript; charset=utf-8', source)
      return () => made
    }),
    icon: asset('icon', 'svg', 'image/svg+xml; charset=utf-8', iconSvg(appName, toHex(accent), toHex(accentInk))),
  }
}
