// Runs once.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const ROOT = path.join(import.meta.dirname, '..')

const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8')

const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT }).map((name) => ({ name, text: read(name) }))

/** Actions that are not pinned to a commit with its full version beside it. A tag can be moved to other code. */
const findLooseActions = (text: string): string[] =>
  text.split('\n').filter((line) => /\buses:/.test(line) && !/uses: \S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))

/** The settings that .editorconfig has for files of one kind. */
const editorSettings = (kind: string): Record<string, string> => {
  const sections = read('.editorconfig').split(/^(?=\[)/m)
  const lines = sections.filter((section) => section.startsWith('[*]') || section.includes(kind)).join('\n')
  return Object.fromEntries([...lines.matchAll(/^(\w+) = (\S+)$/gm)].map(([, name, value]) => [name, value]))
}

test('the workflow runs .ci/run, may only read, and pins its actions to commits', () => {
  assert.ok(workflows.some(({ text }) => /^ +- run: \.ci\/run$/m.test(text)))
  for (const { name, text } of workflows) {
    assert.match(text, /^permissions:\n  contents: read\n\n/m, name)
    assert.doesNotMatch(text, /: write\b|write-all/, name)
    assert.deepEqual(findLooseActions(text), [], name)
  }
})

test('an action that is pinned to a tag or a branch is found', () => {
  const commit = 'a'.repeat(40)
  const loose = [
    `- uses: one/two@v7`,
    `- uses: one/two@v7.0.1`,
    `- uses: one/two@${commit}`,
    `- uses: one/two@main # v7.0.1`,
  ]
  assert.deepEqual(findLooseActions([...loose, `- uses: one/two@${commit} # v7.0.1`].join('\n')), loose)
})

test('.editorconfig has the same format as biome.json', () => {
  const { formatter } = JSON.parse(read('biome.json'))
  const { indent_style, indent_size, max_line_length } = editorSettings('ts')
  assert.deepEqual(
    { indent_style, indent_size, max_line_length },
    {
      indent_style: formatter.indentStyle,
      indent_size: String(formatter.indentWidth),
      max_line_length: String(formatter.lineWidth),
    },
  )
})
