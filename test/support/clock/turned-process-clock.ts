import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { Environment } from '../service/command.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { turnDatabases } from './turned-database.ts'

const preload = new URL('./clock-tap.ts', import.meta.url).href

/** The wall clock and the monotonic clock of services that are processes of their own. */
export type TurnedProcessClock = {
  /** To be laid over the environment of the service. */
  env: Environment
  /**
   * Time passes: the wall clock and the monotonic clock of the services are both ahead by so many milliseconds, and so
   * is the clock of their PostgreSQL database.
   */
  turnTo(aheadMs: number): Promise<void>
  /** The wall clock of the services alone is set, as by an operator or by NTP; negative: back. */
  setWallClockTo(aheadMs: number): void
}

/** The environment in which time can be turned: for services, and for their database where that has a server. */
export const turnedProcessClock = (t?: TestContext): TurnedProcessClock => {
  const file = path.join(temporaryDirectory(t), 'ahead')
  const env = { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK_FILE: file }
  const write = (wallMs: number, monotonicMs: number) => {
    // The service never reads half of it.
    writeFileSync(`${file}.new`, `${wallMs} ${monotonicMs}`)
    renameSync(`${file}.new`, file)
  }
  let passedMs = 0
  write(0, 0)
  return {
    env,
    turnTo: (aheadMs) => {
      passedMs = aheadMs
      write(aheadMs, aheadMs)
      return turnDatabases(file, aheadMs)
    },
    setWallClockTo: (aheadMs) => write(aheadMs, passedMs),
  }
}
