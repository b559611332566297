// Runs after `npm ci` in a checkout (`dependencies`, which npm never runs for an installed package). Plain JavaScript, as
// the machine may have an old Node. An npm before 11.6 removes node_modules/.bin/node together with the Nodes of other
// systems, which it does not install.
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../node_modules/', import.meta.url))
const link = `${packages}.bin/node`
const installed = readdirSync(packages).find((name) => /^node-(bin-)?(linux|darwin)-/.test(name))

if (installed && !existsSync(link)) {
  mkdirSync(`${packages}.bin`, { recursive: true })
  symlinkSync(`../${installed}/bin/node`, link)
}
