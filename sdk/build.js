// Writes dist/, which `npm pack` puts into the package. Plain JavaScript: the Node that packs may be an older one.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const folder = import.meta.dirname
// A file of an earlier build whose source is gone must not reach the package.
rmSync(path.join(folder, 'dist'), { recursive: true, force: true })
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: folder,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
