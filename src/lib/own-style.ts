import { readFileSync, statSync } from 'node:fs'
import { BLACK, type Colour, parseColour, WHITE } from './colour.ts'
import { AppError } from './errors.ts'

/** The stylesheet of an operator may set these colours, as `--svc-accent` and so on. */
const OWN_COLOURS = ['accent', 'text', 'background', 'surface', 'border', 'danger'] as const

export type OwnColour = (typeof OWN_COLOURS)[number]

export type OwnColours = Partial<Record<OwnColour, Colour>>

/** This is the stylesheet of an operator, and what svc can read of its colours. */
export interface OwnStyle {
  css: string
  light: OwnColours
  dark: OwnColours
  /** These are also set in a way that svc cannot read: by another function, or under another condition. */
  unread: ReadonlySet<OwnColour>
}

const MAX_KIB = 256

/** Reads the stylesheet. `invalid_request` with what is wrong: it is missing, too large, or not UTF-8. */
export const readOwnStyle = (file: string): OwnStyle => {
  const refuse = (problem: string): AppError => new AppError('invalid_request', `${JSON.stringify(file)} ${problem}`)
  const read = (): Buffer => {
    const stats = statSync(file)
    if (!stats.isFile()) throw refuse('is no regular file')
    if (stats.size > MAX_KIB * 1024) throw refuse(`is larger than ${MAX_KIB} KiB`)
    return readFileSync(file)
  }
  let bytes: Buffer
  try {
    bytes = read()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw refuse(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  try {
    return parseOwnStyle(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof TypeError) throw refuse('is not UTF-8')
    throw error
  }
}

type Scheme = 'light' | 'dark'

const BOTH: readonly Scheme[] = ['light', 'dark']

/** Declarations of the root count for every page; a layer of the operator's changes nothing in that. */
const ROOT = /^(?::root|html)$/i
const LAYER = /^@layer\b/i
const SCHEME_QUERY = /^@media\s*\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)$/i

/** Finds the schemes in which a block counts; undefined if it depends on something else. */
const schemesOf = (preludes: readonly string[]): readonly Scheme[] | undefined => {
  let schemes = BOTH
  for (const prelude of preludes) {
    const [, scheme] = SCHEME_QUERY.exec(prelude) ?? []
    if (scheme) schemes = schemes.filter((one) => one === scheme.toLowerCase())
    else if (!LAYER.test(prelude) && !prelude.split(',').some((selector) => ROOT.test(selector.trim())))
      return undefined
  }
  return schemes
}

const NAMES: Readonly<Record<string, Colour>> = { black: BLACK, white: WHITE }

const colourOf = (text: string): Colour | undefined => {
  const lower = text.trim().toLowerCase()
  if (/^#[\da-f]{3}$/.test(lower)) return parseColour(lower.replaceAll(/[\da-f]/g, '$&$&'))
  if (/^#[\da-f]{6}$/.test(lower)) return parseColour(lower)
  const [, ...channels] = /^rgb\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)$/.exec(lower) ?? []
  const [red, green, blue] = channels.map((channel) => Math.min(255, Number(channel)))
  if (red !== undefined && green !== undefined && blue !== undefined) return [red, green, blue]
  return Object.hasOwn(NAMES, lower) ? NAMES[lower] : undefined
}

/** Reads a colour, or one for light and one for dark pages. */
const coloursOf = (value: string): Record<Scheme, Colour | undefined> => {
  const [, light, dark] = /^light-dark\(((?:[^(),]|\([^()]*\))+),((?:[^(),]|\([^()]*\))+)\)$/i.exec(value) ?? []
  return light && dark
    ? { light: colourOf(light), dark: colourOf(dark) }
    : { light: colourOf(value), dark: colourOf(value) }
}

const COMMENT = /\/\*[^]*?(?:\*\/|$)/g
const STRING = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/g
const DECLARATION = /^--svc-([a-z]+)\s*:(.+)$/s

/** Reads the colours as far as they are written plainly. Anything else of the stylesheet is left to browsers. */
export const parseOwnStyle = (css: string): OwnStyle => {
  const found: Record<Scheme, OwnColours> = { light: {}, dark: {} }
  const unread = new Set<OwnColour>()
  const preludes: string[] = []

  const declare = (text: string): void => {
    const [, name, given = ''] = DECLARATION.exec(text) ?? []
    const colour = OWN_COLOURS.find((one) => one === name)
    if (colour === undefined) return
    const colours = coloursOf(given.replace(/!\s*important\s*$/i, '').trim())
    for (const scheme of schemesOf(preludes) ?? []) {
      const value = colours[scheme]
      if (value) found[scheme][colour] = value
      else unread.add(colour)
    }
    if (schemesOf(preludes) === undefined) unread.add(colour)
  }

  for (const [, text = '', mark] of css
    .replaceAll(COMMENT, ' ')
    .replaceAll(STRING, '""')
    .matchAll(/([^{};]*)([{};]|$)/g)) {
    if (mark === '{') preludes.push(text.trim())
    else declare(text.trim())
    if (mark === '}') preludes.pop()
  }
  return { css, ...found, unread }
}
