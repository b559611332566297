/** The startup parameters of svc's connections, which a pooler must accept. */
const STARTUP_PARAMETERS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'].join(',')

/** Only a pooler refuses these parameters, since PostgreSQL knows them. PgBouncer's messages are in English only. */
const REFUSED_PARAMETER = /unsupported startup parameter: (\w+)/

/** A prepared statement is missing or exists already: the pooler switched to another connection to the server. */
const LOST_STATEMENTS = ['26000', '42P05']

/**
 * Explains to an operator how to configure the pooler that caused this error; undefined for every other error. `code`
 * is the SQLSTATE.
 */
export const explainPoolerError = ({ code, message }: { code: string; message: string }): string | undefined => {
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
