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

test('workflows run .ci/run, pin their actions to commits, and may only read, but for jobs of a release', () => {
  const runsAll = workflows
    .filter(({ text }) => /^ +- run: \.ci\/run$/m.test(text))
    .map(({ name }) => path.basename(name))
  assert.deepEqual(runsAll.toSorted(), ['ci.yml', 'release.yml'])
  for (const { name, text } of workflows) {
    assert.match(text, /^permissions:\n  contents: read\n\n/m, name)
    assert.deepEqual(findLooseActions(text), [], name)
    if (path.basename(name) !== 'release.yml') assert.doesNotMatch(text, /: write\b|write-all/, name)
  }
})

test('what the release workflow publishes waits for the tests and for approval, and a dry run publishes nothing', () => {
  const text = read('.github/workflows/release.yml')
  const jobs = text
    .slice(text.indexOf('\njobs:'))
    .split(/^(?=  \w+:$)/m)
    .slice(1)
  const writing = jobs.filter((job) => /: write\b/.test(job))
  assert.equal(writing.length, 3)
  for (const job of writing) {
    assert.match(job, /^    needs: (?:test|\[test, packages, image\])$/m)
    assert.match(job, /^    environment: release$/m)
  }
  for (const command of text.match(/npm publish.*/g) ?? []) assert.match(command, /--provenance .*\$DRY_RUN/)
  const pushing = text.split(/^(?=      - )/m).filter((step) => /docker push|imagetools create|gh release/.test(step))
  assert.equal(pushing.length, 3)
  for (const step of pushing) {
    const job = jobs.find((one) => one.includes(step)) ?? ''
    assert.ok(/if: env\.DRY_RUN == ''/.test(step) || /^    if: github\.event_name == 'push'$/m.test(job), step)
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
