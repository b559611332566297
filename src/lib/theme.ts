import { BLACK, type Colour, contrast, mix, parseColour, readableOn, toHex, WHITE } from './colour.ts'

/** This is the minimum contrast of text, and of the outlines of controls. */
interface Contrasts {
  text: number
  shape: number
}

/** WCAG 2.2, 1.4.3 and 1.4.11. */
const USUAL: Contrasts = { text: 4.5, shape: 3 }
/** WCAG 2.2, 1.4.6, for users who ask for more contrast. */
const MORE: Contrasts = { text: 7, shape: 4.5 }

/** These are all colours of the pages in one colour scheme. Each becomes a custom property with the same name. */
export interface Palette {
  wash: Colour
  page: Colour
  surface: Colour
  hover: Colour
  line: Colour
  edge: Colour
  ink: Colour
  muted: Colour
  link: Colour
  accent: Colour
  accentHover: Colour
  accentEdge: Colour
  accentInk: Colour
  danger: Colour
  dangerGround: Colour
  dangerHover: Colour
  good: Colour
  goodGround: Colour
}

interface Scheme {
  /** Text is darkened or lightened towards this colour. */
  pole: Colour
  page: string
  surface: string
  line: string
  edge: string
  ink: string
  muted: string
  danger: string
  good: string
  /** This is the share of the accent in the greys, so that they match any accent. */
  tint: number
  /** This is the share of the accent at the top of the page. */
  wash: number
}

const LIGHT: Scheme = {
  pole: BLACK,
  page: '#fafaf9',
  surface: '#ffffff',
  line: '#e4e4e2',
  edge: '#8b8b89',
  ink: '#1a1b1c',
  muted: '#5c5d5f',
  danger: '#b42318',
  good: '#1a6b3c',
  tint: 0.02,
  wash: 0.07,
}

const DARK: Scheme = {
  pole: WHITE,
  page: '#0d0e0f',
  surface: '#161718',
  line: '#2b2d2f',
  edge: '#72757a',
  ink: '#f0f1f2',
  muted: '#a3a6ab',
  danger: '#ff9c91',
  good: '#7fd6a2',
  tint: 0.04,
  wash: 0.08,
}

/**
 * Leaves the accent unchanged if possible: a very dark one is lightened on a dark page, where the button would be
 * invisible.
 */
const buttonColours = (accent: Colour, scheme: Scheme, { text, shape }: Contrasts, grounds: readonly Colour[]) => {
  const edge = readableOn(grounds, accent, scheme.pole, shape)
  const ground = scheme === DARK ? edge : accent
  const ink = contrast(ground, WHITE) >= Math.min(text, contrast(ground, BLACK)) ? WHITE : BLACK
  const button = readableOn([ink], ground, ink === WHITE ? BLACK : WHITE, text)
  return {
    accent: button,
    accentEdge: edge,
    accentInk: ink,
    accentHover: mix(button, ink === WHITE ? BLACK : WHITE, 0.12),
  }
}

const palette = (accent: Colour, scheme: Scheme, contrasts: Contrasts): Palette => {
  const { text, shape } = contrasts
  const tinted = (grey: string): Colour => mix(parseColour(grey), accent, scheme.tint)
  const [page, surface] = [tinted(scheme.page), scheme === DARK ? tinted(scheme.surface) : WHITE]
  const wash = mix(page, accent, scheme.wash)
  const readable = (colour: Colour, grounds: readonly Colour[]): Colour =>
    readableOn(grounds, colour, scheme.pole, text)
  const ground = (hex: string): Colour => mix(surface, parseColour(hex), 0.08)
  const grounds = [wash, page, surface, ground(scheme.danger), ground(scheme.good)]
  const danger = readable(parseColour(scheme.danger), grounds)
  return {
    wash,
    page,
    surface,
    hover: mix(surface, parseColour(scheme.ink), 0.05),
    line: tinted(scheme.line),
    edge: readableOn([surface, page, wash], tinted(scheme.edge), scheme.pole, shape),
    ink: readable(tinted(scheme.ink), grounds),
    muted: readable(tinted(scheme.muted), grounds),
    link: readable(accent, grounds),
    danger,
    dangerHover: mix(danger, scheme.pole, 0.12),
    dangerGround: ground(scheme.danger),
    good: readable(parseColour(scheme.good), grounds),
    goodGround: ground(scheme.good),
    ...buttonColours(accent, scheme, contrasts, [surface, page, wash]),
  }
}

/** These are the colours of the light and the dark scheme. */
interface Schemes {
  light: Palette
  dark: Palette
}

export interface Theme extends Schemes {
  /** Users who ask for more contrast get these. */
  more: Schemes
}

/** Derives the colours of both schemes from the accent (`#rrggbb`). They are readable with any accent. */
export const createTheme = (accentColor: string): Theme => {
  const accent = parseColour(accentColor)
  const schemes = (contrasts: Contrasts): Schemes => ({
    light: palette(accent, LIGHT, contrasts),
    dark: palette(accent, DARK, contrasts),
  })
  return { ...schemes(USUAL), more: schemes(MORE) }
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Pages and messages have one scheme for everybody, or that of each reader's device. */
export type ColorScheme = 'auto' | 'light' | 'dark'

/** Writes it as the property `color-scheme` and the `meta` of this name have it. */
export const schemesText = (scheme: ColorScheme): string => (scheme === 'auto' ? 'light dark' : scheme)

const declarations = ({ light, dark }: Schemes): string[] =>
  Object.entries(light).map(
    ([name, colour]: [string, Colour]) =>
      `--${kebab(name)}:light-dark(${toHex(colour)},${toHex(dark[name as keyof Palette])})`,
  )

/** Writes the custom properties that the stylesheet uses; of those for more contrast, the ones that differ. */
export const themeCss = ({ more, ...usual }: Theme, scheme: ColorScheme = 'auto'): string => {
  const all = declarations(usual)
  const different = declarations(more).filter((declaration) => !all.includes(declaration))
  return `:root{color-scheme:${schemesText(scheme)};${all.join(';')}}@media (prefers-contrast:more){:root{${different.join(';')}}}`
}
