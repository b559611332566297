// Runs once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { type HtmlFragment, type HtmlValue, html } from '../../src/lib/html.ts'

const inParagraph = (value: HtmlValue): string => html`<p title="${value}">${value}</p>`.toString()

/** What a template makes of each value, byte for byte what `html` of hono 4.13.19 made of it, which was used before. */
const EXPECTED: [HtmlValue, string][] = [
  ['plain', 'plain'],
  ['', ''],
  [`&<>"'`, '&amp;&lt;&gt;&quot;&#39;'],
  ['&amp;&#39;', '&amp;amp;&amp;#39;'],
  [`O'Brien & "sons"`, 'O&#39;Brien &amp; &quot;sons&quot;'],
  ['"><script>alert(1)</script>', '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['<<a>', '&lt;&lt;a&gt;'],
  ['`${1}` =\r\n\t/', '`${1}` =\r\n\t/'],
  ['\u0000\u2028\ud800é😀', '\u0000\u2028\ud800é😀'],
  [0, '0'],
  [-0, '0'],
  [-1.5, '-1.5'],
  [1e21, '1e+21'],
  [Number.NaN, 'NaN'],
  [false, ''],
  [undefined, ''],
  [[], ''],
  [['<', 1, undefined, false, '', ['>', [['&']]]], '&lt;1&gt;&amp;'],
  [html`<br>`, '<br>'],
  [html``, ''],
  [html`a${'<'}b${html`<i>${'"'}</i>`}c`, 'a&lt;b<i>&quot;</i>c'],
  [[html`<li>${1}</li>`, [html`<li>${'&'}</li>`]], '<li>1</li><li>&amp;</li>'],
]

/** Describes a value and how it becomes text, so that both can be made from it. */
type Model =
  | { kind: 'text'; value: string | number }
  | { kind: 'nothing'; value: false | undefined }
  | { kind: 'list'; items: Model[] }
  | { kind: 'fragment'; head: string; holes: { item: Model; behind: string }[] }

const { model } = fc.letrec<{ model: Model }>((tie) => ({
  model: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('text' as const),
      value: fc.oneof(
        fc.string({ unit: fc.constantFrom('&', '<', '>', '"', "'", 'a', '\\', '`', '\ud800') }),
        fc.string({ unit: 'binary' }),
        fc.double(),
      ),
    }),
    fc.record({ kind: fc.constant('nothing' as const), value: fc.constantFrom(false as const, undefined) }),
    fc.record({ kind: fc.constant('list' as const), items: fc.array(tie('model'), { maxLength: 4 }) }),
    fc.record({
      kind: fc.constant('fragment' as const),
      head: fc.string(),
      holes: fc.array(fc.record({ item: tie('model'), behind: fc.string() }), { maxLength: 4 }),
    }),
  ),
}))

const fragmentOf = (head: string, holes: { item: Model; behind: string }[]): HtmlFragment => {
  const strings = [head, ...holes.map(({ behind }) => behind)]
  return html(Object.assign(strings, { raw: strings }), ...holes.map(({ item }) => valueOf(item)))
}

const valueOf = (made: Model): HtmlValue => {
  if (made.kind === 'list') return made.items.map(valueOf)
  return made.kind === 'fragment' ? fragmentOf(made.head, made.holes) : made.value
}

/** Written independently of the template: the ampersand first, so that nothing is escaped twice. */
const expectedOf = (made: Model): string => {
  if (made.kind === 'nothing') return ''
  if (made.kind === 'list') return made.items.map(expectedOf).join('')
  if (made.kind === 'fragment') {
    return made.head + made.holes.map(({ item, behind }) => expectedOf(item) + behind).join('')
  }
  return `${made.value}`
    .split('&')
    .join('&amp;')
    .split('<')
    .join('&lt;')
    .split('>')
    .join('&gt;')
    .split('"')
    .join('&quot;')
    .split("'")
    .join('&#39;')
}

describe('the html template', () => {
  for (const [value, expected] of EXPECTED) {
    test(`makes ${JSON.stringify(expected)} of ${JSON.stringify(String(value))}`, () => {
      assert.equal(inParagraph(value), `<p title="${expected}">${expected}</p>`)
    })
  }

  test('a template without values is returned unchanged', () => {
    assert.equal(html`<br>&nbsp;'"`.toString(), `<br>&nbsp;'"`)
    assert.equal(String(html``), '')
  })

  test('text, numbers, lists and fragments, nested in any way, are escaped once', () => {
    fc.assert(
      fc.property(model, (made) => {
        assert.equal(inParagraph(valueOf(made)), `<p title="${expectedOf(made)}">${expectedOf(made)}</p>`)
      }),
      { numRuns: 2000 },
    )
  })
})
