// Runs before `npm pack`: makes `dist/`, the JavaScript of the package. Node strips no types under node_modules. Types
// are checked by `npm run check`, and not again here.
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import path from 'node:path'

const ROOT = path.join(import.meta.dirname, '..')
const [SOURCE, OUTPUT] = [path.join(ROOT, 'src'), path.join(ROOT, 'dist')]

rmSync(OUTPUT, { recursive: true, force: true })
// Migrations, stylesheet, scripts and lists go along as they are.
cpSync(SOURCE, OUTPUT, { recursive: true, filter: (file) => !file.endsWith('.ts') })
const compiler = path.join(ROOT, 'node_modules/.bin/tsc')
execFileSync(compiler, ['--project', path.join(ROOT, 'tsconfig.build.json')], { stdio: 'inherit' })
