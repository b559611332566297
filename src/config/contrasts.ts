import { type Colour, contrast, parseColour, toHex } from '../lib/colour.ts'
import type { OwnColour } from '../lib/own-style.ts'
import { createTheme, type Palette } from '../lib/theme.ts'
import type { ReadSettings } from './settings.ts'

/** WCAG 2.2 AA asks for these: 1.4.3 of text, 1.4.11 of the borders of fields. */
const [TEXT, SHAPE] = [4.5, 3]

interface Pair {
  what: string
  colour: Colour | undefined
  grounds: readonly Colour[]
  least: number
  /** A colour that svc adjusts is shown as this one. */
  shownAs?: Colour
}

const sentenceOf = ({ what, colour, grounds, least, shownAs }: Pair, scheme: string): string[] => {
  if (!colour) return []
  const [lowest] = grounds
    .map((ground) => ({ ground, ratio: contrast(colour, ground) }))
    .toSorted((one, other) => one.ratio - other.ratio)
  if (!lowest || lowest.ratio >= least) return []
  // It is rounded down, so that no ratio looks sufficient that is not.
  const ratio = (Math.floor(lowest.ratio * 100) / 100).toFixed(2)
  const means = shownAs ? `: as text it is shown as ${toHex(shownAs)}` : ''
  return [
    `${what} (${toHex(colour)}) has a contrast of ${ratio}:1 to ${toHex(lowest.ground)} on ${scheme} pages, and WCAG AA asks ` +
      `for ${least}:1${means}`,
  ]
}

const of = (name: OwnColour): string => `SVC_STYLE_FILE: --svc-${name}`

type Look = Pick<ReadSettings, 'accentColor' | 'ownStyle' | 'colorScheme'>

/** Finds colours that the operator has chosen and that are hard to read, one sentence for each. */
export const warnOfContrasts = ({ accentColor, ownStyle, colorScheme }: Look): string[] => {
  const theme = createTheme(accentColor, ownStyle)
  const ofScheme = (scheme: 'light' | 'dark'): string[] => {
    const { surface, page, link }: Palette = theme[scheme]
    const own = ownStyle?.[scheme] ?? {}
    const accent = own.accent
      ? { what: of('accent'), colour: own.accent }
      : { what: 'SVC_ACCENT_COLOR', colour: parseColour(accentColor) }
    // One accent for both schemes is meant for light pages; dark ones have it adjusted.
    const isForBoth = scheme === 'dark' && (!own.accent || String(own.accent) === String(ownStyle?.light.accent))
    const pairs: Pair[] = [
      ...(isForBoth ? [] : [{ ...accent, grounds: [surface, page], least: TEXT, shownAs: link }]),
      { what: of('text'), colour: own.text, grounds: [surface, page], least: TEXT },
      { what: of('danger'), colour: own.danger, grounds: [surface, page], least: TEXT },
      { what: of('border'), colour: own.border, grounds: [surface], least: SHAPE },
    ]
    return pairs.flatMap((pair) => sentenceOf(pair, scheme))
  }
  return colorScheme === 'auto' ? [...ofScheme('light'), ...ofScheme('dark')] : ofScheme(colorScheme)
}
