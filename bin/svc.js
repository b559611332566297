#!/usr/bin/env -S node --max-semi-space-size=8
// The flag keeps what is freed soon in 24 MB; on a large machine Node would let it grow past 130 MB first.
// Plain JavaScript that any Node can read: it says what is missing instead of failing with a syntax error.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 16)) {
  process.stderr.write(
    `svc needs Node 24.16 or later, and this is ${process.version}.\n` +
      'From a checkout, "npm ci" brings the right one, and "npm start" or "npm run svc -- ARGS" uses it.\n',
  )
  process.exit(78)
}

// Before the first use of the thread pool: one thread for each password hash at once, four for files and syncs.
const { availableParallelism } = await import('node:os')
process.env.UV_THREADPOOL_SIZE ??= String(availableParallelism() + 4)

// Compiled code is kept beside the packages, not in the shared /tmp where another user could plant some.
const { enableCompileCache } = await import('node:module')
const { fileURLToPath } = await import('node:url')
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/svc', import.meta.url)))

const { main } = await import('../src/main.ts')
await main(process.argv.slice(2))
