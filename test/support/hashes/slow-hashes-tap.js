// Preloaded into a service (NODE_OPTIONS=--import), whose password hashes are cheap otherwise: each waits besides, so
// that what races with it has the time to, and no processor is needed for that.
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

const WAIT_MS = 30

const argon2 = createRequire(import.meta.url)('@node-rs/argon2')
for (const name of ['hash', 'verify']) {
  const work = argon2[name]
  argon2[name] = async (...given) => {
    await sleep(WAIT_MS)
    return work(...given)
  }
}
