import type pg from 'pg'
import { isConnectionLost, translatePostgresError } from './errors.ts'
import { type NamedResult, type NamedStatement, sendNamed } from './named-query.ts'

/** Begins a transaction whose statements all see what was committed before the first of them. */
export const BEGIN_SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** A connection during one operation. Its errors are those that `Database` documents. */
export interface PooledConnection {
  query<Row>(statement: NamedStatement): Promise<NamedResult<Row>>
  /** Resolves to what the server has done: it answers `COMMIT` with `ROLLBACK` after a failure. */
  command(text: 'BEGIN' | 'COMMIT' | 'ROLLBACK' | typeof BEGIN_SNAPSHOT): Promise<string>
}

interface LimitedConnection extends PooledConnection {
  /** The error after which the connection must not be reused. */
  lost: Error | undefined
}

/** Gives each query the time that is left until the deadline. */
export const limitByDeadline = (client: pg.PoolClient, deadline: number): LimitedConnection => {
  const limit = async <T>(send: (timeoutMs: number) => Promise<T>): Promise<T> => {
    try {
      return await send(Math.max(1, Math.ceil(deadline - performance.now())))
    } catch (error) {
      // Its stack would lead to the driver's reader, and not to the statement.
      if (error instanceof Error) Error.captureStackTrace(error)
      if (isConnectionLost(error)) limited.lost = error as Error
      throw translatePostgresError(error)
    }
  }
  const limited: LimitedConnection = {
    lost: undefined,
    query: (statement) => limit((timeoutMs) => sendNamed(client, statement, timeoutMs)),
    async command(text) {
      const { command } = await limit((query_timeout) => client.query({ text, query_timeout } as pg.QueryConfig))
      return command
    },
  }
  return limited
}
