import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Environment } from './command.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const preload = new URL('./clock-tap.ts', import.meta.url).href

interface TurnedClock {
  /** To be laid over the environment of the service. */
  env: Environment
  /** Time passes: the wall clock and the monotonic clock are both ahead by so many milliseconds. */
  turnTo(aheadMs: number): void
  /** The wall clock alone is set, as by an operator or by NTP; negative: back. */
  setWallClockTo(aheadMs: number): void
}

/** The environment in which the clocks of a service can be turned. */
export const turnedClock = (t?: TestContext): TurnedClock => {
  const file = path.join(temporaryDirectory(t), 'ahead')
  const write = (wallMs: number, monotonicMs: number) => {
    // The service never reads half of it.
    writeFileSync(`${file}.new`, `${wallMs} ${monotonicMs}`)
    renameSync(`${file}.new`, file)
  }
  let passedMs = 0
  const turnTo = (aheadMs: number) => {
    passedMs = aheadMs
    write(aheadMs, aheadMs)
  }
  turnTo(0)
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK_FILE: file },
    turnTo,
    setWallClockTo: (aheadMs) => write(aheadMs, passedMs),
  }
}
