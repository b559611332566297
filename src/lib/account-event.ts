import type { Log } from './log.ts'

/** The names of account events are public: logs contain them (docs/logs-and-metrics.md#account-events). */
export const ACCOUNT_EVENTS = [
  'login',
  'login_email_request',
  'login_link_create',
  'second_factor_request',
  'trusted_browsers_forget',
  'signup',
  'signup_request',
  'logout',
  'reauthentication',
  'password_change',
  'password_reset_request',
  'password_reset',
  'email_verification_request',
  'username_change',
  'name_change',
  'language_change',
  'email_change_request',
  'email_change_cancel',
  'email_change',
  'email_undo',
  'provider_connect',
  'provider_disconnect',
  'passkey_add',
  'passkey_rename',
  'passkey_remove',
  'passkey_counter',
  'account_reclaim',
  'not_me',
  'second_factor_add',
  'second_factor_remove',
  'second_factor_reset',
  'second_factor_link_request',
  'second_factor_link',
  'recovery_codes_renew',
  'session_end',
  'account_create',
  'account_import',
  'account_invite',
  'invitation_accept',
  'account_disable',
  'account_enable',
  'account_unlock',
  'account_delete',
  'account_export',
  'roles_change',
  'email_verification',
  'client_allow',
  'client_disconnect',
  'api_key_create',
  'api_key_revoke',
  'client_create',
  'client_change',
  'client_secret_rotate',
  'client_disable',
  'client_enable',
  'client_delete',
  'administrator_invite',
  'administrator_reset',
  'administrator_role_change',
  'administrator_remove',
  'administrator_sign_in',
  'administrator_sign_out',
  'administrator_passkey_add',
  'administrator_passkey_remove',
] as const

export type AccountEventName = (typeof ACCOUNT_EVENTS)[number]

/** These are the details of an event. Undefined ones are left out of the log line. */
export interface AccountFacts {
  userId?: string | undefined
  sessionId?: string | undefined
  /** This is `password`, `passkey`, `email_code`, `email_link`, or the provider's name in the settings. */
  method?: string | undefined
  /** This is a keyed hash of the entered email, if no user is known. */
  account?: string | undefined
  /** This is the reason of a failure; it is undefined after success. */
  reason?: string | undefined
  /** This key of the server API was made or revoked. */
  apiKeyId?: string | undefined
  /** This client of the OAuth server was made, changed or deleted. */
  clientId?: string | undefined
  passkeyId?: string | undefined
  /** This is the name of an administrator: who acts, or whom it is about. */
  administrator?: string | undefined
  /** This session ended, if the request used a different one. */
  endedSessionId?: string | undefined
  /** This is a number of sessions, of connections to providers, or of accounts. */
  count?: number | undefined
}

/** An event has this origin: a request, of the server API with its key, or an operator on the command line. */
type Origin =
  | { request_id: string; client: string; api_key_id?: string | undefined }
  | { command: string; operator: string }

/** Writes the log line of one event. */
export const logAccountEvent = (log: Log, event: AccountEventName, facts: AccountFacts, origin: Origin): void => {
  const { userId, sessionId, endedSessionId, apiKeyId, clientId, passkeyId, reason, ...others } = facts
  log.info(
    {
      event,
      outcome: reason === undefined ? 'succeeded' : 'failed',
      reason,
      user_id: userId,
      session_id: sessionId,
      ended_session_id: endedSessionId,
      api_key_id: apiKeyId,
      client_id: clientId,
      passkey_id: passkeyId,
      ...others,
      ...origin,
    },
    'account event',
  )
}
