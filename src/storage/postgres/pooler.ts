/** What each of svc's connections sets as it is opened, and a pooler in between must let pass. */
const STARTUP_PARAMETERS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'].join(',')

/** PostgreSQL knows these parameters: only a pooler refuses them. PgBouncer writes its messages in English. */
const REFUSED_PARAMETER = /unsupported startup parameter: (\w+)/

/** A statement was prepared on this connection before, or was not: the connection at the server is another one. */
const LOST_STATEMENTS = ['26000', '42P05']

/**
 * What an error says about a pooler between svc and PostgreSQL that is not set up for svc, in words for an operator;
 * undefined for every other error. `code` is the SQLSTATE.
 */
export const poolerTroubleOf = ({ code, message }: { code: string; message: string }): string | undefined => {
  const [, parameter] = REFUSED_PARAMETER.exec(message) ?? []
  if (parameter) {
    return `The database does not take the parameter ${parameter}: set ignore_startup_parameters=${STARTUP_PARAMETERS} in PgBouncer.`
  }
  if (!LOST_STATEMENTS.includes(code)) return undefined
  return (
    'The database does not keep prepared statements: with pool_mode=transaction PgBouncer must be 1.21 or later, with ' +
    'max_prepared_statements above 0; an older one needs pool_mode=session.'
  )
}
