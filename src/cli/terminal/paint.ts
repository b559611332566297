export type Tone = 'bold' | 'dim' | 'green' | 'red' | 'yellow'

/** Colours a text if standard output is a terminal with colours. */
export type Paint = (tone: Tone | undefined, text: string) => string

// An import reads all exports of the module, which loads many others: 4 ms for each command.
const { styleText } = process.getBuiltinModule('node:util')

// `hasColors` respects NO_COLOR and TERM.
const isColoured = (): boolean => process.stdout.isTTY && process.stdout.hasColors()

export const createPaint = (): Paint =>
  isColoured()
    ? (tone, text) => (tone ? styleText(tone, text, { validateStream: false }) : text)
    : (_tone, text) => text
