// Measures the machine's rate of password hashes, two at a time.
import { hash } from '@node-rs/argon2'

// Argon2id is the library's default; these are the costs that the service stores.
const COSTS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }
const AT_ONCE = 2

const hashUntil = async (deadlineMs: number): Promise<number> => {
  let hashes = 0
  for (; performance.now() < deadlineMs; hashes++) await hash('correct horse battery staple', COSTS)
  return hashes
}

const measure = async (durationMs: number): Promise<number> => {
  const startedMs = performance.now()
  const counts = await Promise.all(Array.from({ length: AT_ONCE }, () => hashUntil(startedMs + durationMs)))
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - startedMs) / 1000)
}

process.on('message', (durationMs: number) => {
  void measure(durationMs).then((ratePerS) => process.send?.(ratePerS))
})
