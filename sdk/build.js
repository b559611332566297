// Writes dist/, which `npm pack` puts into the package. Plain JavaScript: the Node that packs may be an older one. Types
// are checked by `npm run check`, and not again here.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
const dist = path.join(folder, 'dist')
// A file of an earlier build whose source is gone must not reach the package.
rmSync(dist, { recursive: true, force: true })
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: folder,
  stdio: 'inherit',
})
if (status !== 0) process.exit(status ?? 1)
// The compiler gives the imports of the code the ending .js, but not those of the types.
for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.d.ts'))) {
  const file = path.join(dist, name)
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(['"]\.{1,2}\/[^'"]*)\.ts(?=['"])/g, '$1.js'))
}
