import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Environment } from './command.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const preload = new URL('./clock-tap.ts', import.meta.url).href

/** The environment in which the clock of a service can be turned forward. */
export const turnedClock = (t?: TestContext): { env: Environment; turnTo(aheadMs: number): void } => {
  const file = path.join(temporaryDirectory(t), 'ahead')
  const turnTo = (aheadMs: number) => writeFileSync(file, String(aheadMs))
  turnTo(0)
  return { env: { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK_FILE: file }, turnTo }
}
