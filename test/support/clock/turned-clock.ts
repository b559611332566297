import { makeTurnable, turnDatabases } from './turned-database.ts'

/** The clock of services inside the test's process, to be handed to `startService`. */
export type TurnedClock = {
  now(): number
  /** What has passed: it is turned with `turnTo`, and not with `setWallClockTo`. */
  elapsedMs(): number
  /** By how much it is ahead of this machine's. */
  aheadMs(): number
  /** The clock of a machine that is ahead of the others, or behind them. */
  skewed(aheadMs: number): TurnedClock
  /**
   * Time passes: the clock is ahead by so many milliseconds, and so is that of the PostgreSQL databases of services.
   */
  turnTo(aheadMs: number): Promise<void>
  /** The clock of the services alone is set, as by an operator or by NTP; negative: back. */
  setWallClockTo(aheadMs: number): void
  /** Has the clock of a database turned with it, where it is one of PostgreSQL. */
  turnDatabase(url: string | undefined): Promise<void>
}

/** A clock that tests turn. For one of processes, see `turnedProcessClock`. */
export const turnedClock = (): TurnedClock => {
  const name = Symbol('clock')
  let wallMs = 0
  let passedMs = 0
  const createClock = (skewMs: number): TurnedClock => {
    const aheadMs = () => wallMs + skewMs
    return {
      now: () => Date.now() + aheadMs(),
      elapsedMs: () => performance.now() + passedMs,
      aheadMs,
      skewed: createClock,
      turnTo: async (ms) => {
        wallMs = ms
        passedMs = ms
        await turnDatabases(name, ms)
      },
      setWallClockTo: (ms) => {
        wallMs = ms
      },
      turnDatabase: async (url) => {
        if (url?.startsWith('postgres')) await makeTurnable(name, url)
      },
    }
  }
  return createClock(0)
}
