// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Colour, contrast, parseColour, toHex } from '../../src/lib/colour.ts'
import { createTheme, type Palette, themeCss } from '../../src/lib/theme.ts'

const hex = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)).map((channels) => toHex(channels))

const TEXT: (keyof Palette)[] = ['ink', 'muted', 'link', 'danger', 'good']
const GROUNDS: (keyof Palette)[] = ['wash', 'page', 'surface', 'hover', 'dangerGround', 'goodGround']

/**
 * Pairs of foreground and background, with the contrast that WCAG 2.2 AA requires (1.4.3 for text, 1.4.11 for shapes).
 */
const pairsOf = (colours: Palette): [string, Colour, Colour, number][] => [
  ...TEXT.flatMap((text) =>
    GROUNDS.filter((ground) => ground !== 'hover' || text === 'ink').map((ground): [string, Colour, Colour, number] => [
      `${text} on ${ground}`,
      colours[text],
      colours[ground],
      4.5,
    ]),
  ),
  ['button', colours.accentInk, colours.accent, 4.5],
  ['button, pointed at', colours.accentInk, colours.accentHover, 4.5],
  ['button that deletes', colours.surface, colours.danger, 4.5],
  ['button that deletes, pointed at', colours.surface, colours.dangerHover, 4.5],
  ...(['wash', 'page', 'surface'] as const).flatMap((ground): [string, Colour, Colour, number][] => [
    [`edge of a field on ${ground}`, colours.edge, colours[ground], 3],
    [`edge of a button on ${ground}`, colours.accentEdge, colours[ground], 3],
  ]),
]

test('with any accent colour, everything is readable, light and dark', () => {
  fc.assert(
    fc.property(hex, (accent) => {
      for (const [scheme, colours] of Object.entries(createTheme(accent))) {
        for (const [what, front, ground, least] of pairsOf(colours)) {
          const reached = contrast(front, ground)
          assert.ok(reached >= least, `${scheme}, ${accent}: ${what} has ${reached.toFixed(2)}`)
        }
      }
    }),
    { numRuns: 500, examples: [['#000000'], ['#ffffff'], ['#ffff00'], ['#0000ff'], ['#ff0000'], ['#808080']] },
  )
})

test('an accent colour that is readable is not changed', () => {
  const { light, dark } = createTheme('#0f6b5c')
  assert.equal(toHex(light.accent), '#0f6b5c')
  assert.equal(toHex(light.link), '#0f6b5c')
  assert.equal(toHex(light.accentInk), '#ffffff')
  assert.notEqual(toHex(dark.link), '#0f6b5c')
})

test('contrast is calculated as WCAG defines it', () => {
  assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21)
  assert.equal(contrast([255, 255, 255], [119, 119, 119]).toFixed(2), '4.48')
  assert.equal(contrast([255, 0, 0], [255, 255, 255]).toFixed(2), '4.00')
})

test('every colour reaches the stylesheet in both schemes', () => {
  const css = themeCss(createTheme('#0F6B5C'))
  assert.match(css, /^:root\{.*--accent-ink:#ffffff.*\}\n@media \(prefers-color-scheme:dark\)\{:root\{.*--accent-ink:/)
})

test('an invalid colour is refused', () => {
  for (const wrong of ['', 'red', '#fff', '#0f6b5', '#0f6b5c;', '0f6b5c', '#0f6b5g']) {
    assert.throws(() => parseColour(wrong), TypeError, wrong)
  }
})
