import { toHex } from '../../lib/colour.ts'
import { createTheme, type Palette } from '../../lib/theme.ts'

/** The colours of each class, as declarations. */
export interface MessageColours {
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
export const messageColours = (accentColor: string): { light: MessageColours; darkCss: string } => {
  const { light, dark } = createTheme(accentColor)
  const rules = Object.entries(coloursOf(dark)).map(rule).join('')
  return { light: coloursOf(light), darkCss: `@media (prefers-color-scheme:dark){${rules}}` }
}
