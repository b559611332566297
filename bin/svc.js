#!/usr/bin/env -S MALLOC_ARENA_MAX=1 node --max-semi-space-size=8 --max-old-space-size=512
// Both flags and the variable keep memory small (docs/decisions/032-memory.md).
// Plain JavaScript that any Node can read: it says what is missing instead of failing with a syntax error.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 16)) {
  const { existsSync } = await import('node:fs')
  process.stderr.write(`svc needs Node 24.16 or later, and this is ${process.version}.\n`)
  if (existsSync(new URL('../src/main.ts', import.meta.url)))
    process.stderr.write('Here "npm ci" brings the right one, and "npm start" or "npm run svc -- ARGS" uses it.\n')
  process.exit(78)
}

// To Node this signal means that anybody on this machine may attach a debugger, and log rotation sends it. Node before
// 22.14 does not know --disable-sigusr1 and would not come here, so it is not in the first line.
process.on('SIGUSR1', () => {})

const { existsSync } = process.getBuiltinModule('node:fs')
const { availableParallelism } = process.getBuiltinModule('node:os')
const { enableCompileCache, registerHooks } = process.getBuiltinModule('node:module')
const { fileURLToPath } = process.getBuiltinModule('node:url')

// Before the first use of the thread pool: one thread for each password hash at once, four for files and syncs.
process.env.UV_THREADPOOL_SIZE ??= String(availableParallelism() + 4)

// Compiled code is kept beside the packages, not in the shared /tmp where another user could plant some.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/svc', import.meta.url)))

// A checkout runs its source, whose types Node strips. The package has JavaScript, as Node strips none in node_modules.
const isCheckout = existsSync(new URL('../src/main.ts', import.meta.url))
const code = isCheckout
  ? { folder: '../src/', ending: '.ts', format: 'module-typescript' }
  : { folder: '../dist/', ending: '.js', format: 'module' }
const folder = new URL(code.folder, import.meta.url).href

// An import names its file, so there is nothing to look for. Node's own search takes a quarter of each start
// (docs/decisions/034-short-start.md).
registerHooks({
  resolve(specifier, context, resolveNext) {
    const isOurs = specifier.startsWith('.') && specifier.endsWith(code.ending) && context.parentURL?.startsWith(folder)
    if (!isOurs) return resolveNext(specifier, context)
    return { url: new URL(specifier, context.parentURL).href, format: code.format, shortCircuit: true }
  },
})

const { main } = await import(`${folder}main${code.ending}`)
await main(process.argv.slice(2))
