import type { Log } from './log.ts'

/** Logs that the database stops answering, with the reason, and that it answers again. */
export const logAvailability =
  (log: Log | undefined) =>
  (isUp: boolean, error?: Error): void => {
    if (isUp) log?.info('database answers again')
    else log?.error({ err: error }, 'database does not answer')
  }
