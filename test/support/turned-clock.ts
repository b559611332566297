import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Environment } from './command.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { turnDatabases } from './turned-database.ts'

const preload = new URL('./clock-tap.ts', import.meta.url).href

export type TurnedClock = {
  env: Environment
  /** For a service whose machine's clock is wrong: ahead of the others by so much, or behind. */
  skewed(aheadMs: number): Environment
  /** Turns the clocks of the services and of their databases. */
  turnTo(aheadMs: number): Promise<void>
}

/** The environment in which time can be turned forward: for a service, and for its database where that has a server. */
export const turnedClock = (t?: TestContext): TurnedClock => {
  const file = path.join(temporaryDirectory(t), 'ahead')
  const env = { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK_FILE: file }
  const turnProcesses = (aheadMs: number) => writeFileSync(file, String(aheadMs))
  turnProcesses(0)
  return {
    env,
    skewed: (aheadMs) => ({ ...env, TEST_CLOCK_SKEW_MS: String(aheadMs) }),
    turnTo: (aheadMs) => {
      turnProcesses(aheadMs)
      return turnDatabases(file, aheadMs)
    },
  }
}
