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
 * Pairs of foreground and background, with the contrast that WCAG 2.2 AA requires (1.4.3 for text, 1.4.11 for shapes),
 * or more.
 */
const pairsOf = (colours: Palette, text = 4.5, shape = 3): [string, Colour, Colour, number][] => [
  ...TEXT.flatMap((name) =>
    GROUNDS.filter((ground) => ground !== 'hover' || name === 'ink').map((ground): [string, Colour, Colour, number] => [
      `${name} on ${ground}`,
      colours[name],
      colours[ground],
      text,
    ]),
  ),
  ['button', colours.accentInk, colours.accent, text],
  ['button, pointed at', colours.accentInk, colours.accentHover, text],
  ['button that deletes', colours.surface, colours.danger, text],
  ['button that deletes, pointed at', colours.surface, colours.dangerHover, text],
  ...(['wash', 'page', 'surface'] as const).flatMap((ground): [string, Colour, Colour, number][] => [
    [`edge of a field on ${ground}`, colours.edge, colours[ground], shape],
    [`edge of a button on ${ground}`, colours.accentEdge, colours[ground], shape],
  ]),
]

test('with any accent colour, everything is readable, light and dark', () => {
  fc.assert(
    fc.property(hex, (accent) => {
      const { more, light, dark } = createTheme(accent)
      const all = {
        light: pairsOf(light),
        dark: pairsOf(dark),
        'light, more contrast': pairsOf(more.light, 7, 4.5),
        'dark, more contrast': pairsOf(more.dark, 7, 4.5),
      }
      for (const [scheme, pairs] of Object.entries(all)) {
        for (const [what, front, ground, least] of pairs) {
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
  const [usual = '', more = ''] = css.split('@media (prefers-contrast:more)')
  assert.match(usual, /^:root\{.*--accent-ink:light-dark\(#ffffff,#[\da-f]{6}\).*\}$/)
  for (const name of ['svc-text', 'muted', 'link', 'svc-danger', 'good', 'edge'])
    assert.match(usual, new RegExp(`[{;]--${name}:light-dark\\(#[\\da-f]{6},#[\\da-f]{6}\\)[;}]`))
  assert.match(more, /^\{:root\{.*--muted:light-dark\(.*\}\}$/)
  for (const [declaration] of more.matchAll(/--[^;}]*/g)) assert.ok(!usual.includes(`${declaration};`), declaration)
})

test('an invalid colour is refused', () => {
  for (const wrong of ['', 'red', '#fff', '#0f6b5', '#0f6b5c;', '0f6b5c', '#0f6b5g']) {
    assert.throws(() => parseColour(wrong), TypeError, wrong)
  }
})
