/** Colours of a picture. They differ in lightness as well, for people who do not tell the hues apart. */
export interface Theme {
  name: 'light' | 'dark'
  background: string
  text: string
  muted: string
  grid: string
  /** Figures of the service. */
  svc: string
  /** Figures of the baseline. */
  bare: string
  goal: string
}

export const THEMES: readonly Theme[] = [
  {
    name: 'light',
    background: '#ffffff',
    text: '#1f2328',
    muted: '#59636e',
    grid: '#d1d9e0',
    svc: '#3b82c4',
    bare: '#a7b0b9',
    goal: '#a33c00',
  },
  {
    name: 'dark',
    background: '#0d1117',
    text: '#e6edf3',
    muted: '#9198a1',
    grid: '#343b44',
    svc: '#4a90d9',
    bare: '#6e7681',
    goal: '#ffb77c',
  },
]
