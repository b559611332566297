import type { OwnColour, OwnColours, OwnStyle } from './own-style.ts'
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

/** These are all colours of the pages in one colour scheme. Each becomes a custom property. */
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

/** Black or white, whichever can be read better on the ground: other colours are darkened or lightened towards it. */
const poleOn = (ground: Colour): Colour => (contrast(ground, WHITE) >= contrast(ground, BLACK) ? WHITE : BLACK)

interface ButtonGiven {
  accent: Colour
  /** It is shown as it is. */
  isFixed: boolean
  scheme: Scheme
  grounds: readonly [Colour, ...Colour[]]
}

/**
 * Leaves the accent unchanged if possible: a very dark one is lightened on a dark page, where the button would be
 * invisible.
 */
const buttonColours = ({ accent, isFixed, scheme, grounds }: ButtonGiven, { text, shape }: Contrasts) => {
  const edge = readableOn(grounds, accent, poleOn(grounds[0]), shape)
  const ground = scheme === DARK && !isFixed ? edge : accent
  const ink = contrast(ground, WHITE) >= Math.min(text, contrast(ground, BLACK)) ? WHITE : BLACK
  const button = readableOn([ink], ground, ink === WHITE ? BLACK : WHITE, text)
  return {
    accent: button,
    accentEdge: edge,
    accentInk: ink,
    accentHover: mix(button, ink === WHITE ? BLACK : WHITE, 0.12),
  }
}

/** The colours that the operator has set are shown as they are, and all others are made to be readable beside them. */
const palette = (usualAccent: Colour, own: OwnColours, scheme: Scheme, contrasts: Contrasts): Palette => {
  const { text, shape } = contrasts
  const accent = own.accent ?? usualAccent
  const tinted = (grey: string): Colour => mix(parseColour(grey), accent, scheme.tint)
  const page = own.background ?? tinted(scheme.page)
  const surface = own.surface ?? (scheme === DARK ? tinted(scheme.surface) : WHITE)
  const pole = poleOn(surface)
  const wash = own.background ?? mix(page, accent, scheme.wash)
  const ground = (colour: Colour): Colour => mix(surface, colour, 0.08)
  const [dangerGround, goodGround] = [
    ground(own.danger ?? parseColour(scheme.danger)),
    ground(parseColour(scheme.good)),
  ]
  const grounds = [wash, page, surface, dangerGround, goodGround]
  const readable = (colour: Colour): Colour => readableOn(grounds, colour, pole, text)
  const danger = own.danger ?? readable(parseColour(scheme.danger))
  const ink = own.text ?? readable(tinted(scheme.ink))
  return {
    wash,
    page,
    surface,
    hover: mix(surface, own.text ?? parseColour(scheme.ink), 0.05),
    line: own.border ?? tinted(scheme.line),
    edge: own.border ?? readableOn([surface, page, wash], tinted(scheme.edge), pole, shape),
    ink,
    muted: readable(own.text ? mix(own.text, surface, 0.3) : tinted(scheme.muted)),
    link: readable(accent),
    danger,
    dangerHover: mix(danger, pole, 0.12),
    dangerGround,
    good: readable(parseColour(scheme.good)),
    goodGround,
    ...buttonColours({ accent, isFixed: own.accent !== undefined, scheme, grounds: [surface, page, wash] }, contrasts),
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

const NOTHING_OWN = { light: {}, dark: {} }

/**
 * Derives the colours of both schemes from the accent (`#rrggbb`), and from those that the operator has set. They are
 * readable with any accent.
 */
export const createTheme = (accentColor: string, own: Pick<OwnStyle, 'light' | 'dark'> = NOTHING_OWN): Theme => {
  const accent = parseColour(accentColor)
  const schemes = (contrasts: Contrasts): Schemes => ({
    light: palette(accent, own.light, LIGHT, contrasts),
    dark: palette(accent, own.dark, DARK, contrasts),
  })
  return { ...schemes(USUAL), more: schemes(MORE) }
}

/** Stylesheets of operators may set and use these colours, under names that are promised. */
const PROMISED: Partial<Record<keyof Palette, string>> = {
  accent: 'svc-accent',
  ink: 'svc-text',
  page: 'svc-background',
  surface: 'svc-surface',
  line: 'svc-border',
  danger: 'svc-danger',
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Pages and messages have one scheme for everybody, or that of each reader's device. */
export type ColorScheme = 'auto' | 'light' | 'dark'

/** Writes it as the property `color-scheme` and the `meta` of this name have it. */
export const schemesText = (scheme: ColorScheme): string => (scheme === 'auto' ? 'light dark' : scheme)

/** Mixes in the browser. */
const mixed = (from: string, to: string, share: number): string => `color-mix(in srgb,var(--${from}),${to} ${share}%)`

const level = (white: number): string => `calc(${white}*clamp(0,(.1833 - y)*9999,1))`

/** Chooses black or white for a ground by its luminance, as `buttonColours` does. */
const inkOn = (ground: string): string => {
  return `color(from var(--${ground}) xyz-d65 ${level(0.9505)} ${level(1)} ${level(1.089)})`
}

/** Browsers make these colours from others that svc could not read. The first row for a colour that fits counts. */
const MADE_BY_BROWSERS: readonly [name: keyof Palette, from: readonly OwnColour[], css: string][] = [
  ['wash', ['background'], 'var(--svc-background)'],
  ['wash', ['accent'], mixed('svc-background', 'var(--svc-accent)', 7)],
  ['hover', ['surface', 'text'], mixed('svc-surface', 'var(--svc-text)', 5)],
  ['edge', ['border'], 'var(--svc-border)'],
  ['muted', ['text'], mixed('svc-text', 'var(--svc-surface)', 25)],
  ['link', ['accent'], 'var(--svc-accent)'],
  ['accentEdge', ['accent'], 'var(--svc-accent)'],
  ['accentInk', ['accent'], inkOn('svc-accent')],
  ['accentHover', ['accent'], mixed('svc-accent', 'var(--svc-text)', 12)],
  ['dangerHover', ['danger'], mixed('svc-danger', 'var(--svc-text)', 12)],
  ['dangerGround', ['danger', 'surface'], mixed('svc-surface', 'var(--svc-danger)', 8)],
  ['goodGround', ['surface'], mixed('svc-surface', 'var(--good)', 8)],
]

const declarations = ({ light, dark }: Schemes, unread: ReadonlySet<OwnColour>): string[] =>
  Object.entries(light).map(([key, colour]: [string, Colour]) => {
    const name = key as keyof Palette
    const made = MADE_BY_BROWSERS.find(([one, from]) => one === name && from.some((other) => unread.has(other)))
    return `--${PROMISED[name] ?? kebab(name)}:${made?.[2] ?? `light-dark(${toHex(colour)},${toHex(dark[name])})`}`
  })

const NONE: ReadonlySet<OwnColour> = new Set()

/** Writes the custom properties that the stylesheet uses; of those for more contrast, the ones that differ. */
export const themeCss = (
  { more, ...usual }: Theme,
  scheme: ColorScheme = 'auto',
  unread: OwnStyle['unread'] = NONE,
): string => {
  const all = declarations(usual, unread)
  const different = declarations(more, unread).filter((declaration) => !all.includes(declaration))
  return `:root{color-scheme:${schemesText(scheme)};${all.join(';')}}@media (prefers-contrast:more){:root{${different.join(';')}}}`
}
