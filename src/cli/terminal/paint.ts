import { styleText } from 'node:util'

export type Tone = 'bold' | 'dim' | 'green' | 'red' | 'yellow'

/** Returns the text in a colour where standard output shows colours, else as it is. */
export type Paint = (tone: Tone | undefined, text: string) => string

// `hasColors` heeds NO_COLOR and TERM.
const isColoured = (): boolean => process.stdout.isTTY && process.stdout.hasColors()

export const createPaint = (): Paint =>
  isColoured()
    ? (tone, text) => (tone ? styleText(tone, text, { validateStream: false }) : text)
    : (_tone, text) => text
