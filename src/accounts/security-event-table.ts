/** What one event does to each way into an account. */
export interface Effects {
  /** Where sessions end, so do sign-ins under way, which have proved a password and wait for a second factor. */
  sessions: 'end' | 'others_end' | 'stay'
  /**
   * `die`: all but the links that undo a change of address, which are the owner's last resort. `newer_die`: these too
   * where they were made since a time. `asked_die`: all but these and the links of notices, by which the user throws out
   * what else a thief has added.
   */
  links: 'die' | 'newer_die' | 'all_die' | 'asked_die' | 'stay'
  /** Browsers in which the user has signed in before, and their trust, which spares a second factor. */
  browsers: 'end' | 'trust_ends' | 'stay'
  /** Connected providers; `newer_go`: those that were connected since a time. */
  connections: Things
  passkeys: Things
  /** The authenticator app, and recovery codes. */
  codes: Things
  /** What was counted of wrong codes. `forgotten`: there is a new password, and what was tried before says nothing about it. */
  wrongCodes: 'forgotten' | 'stay'
}

/** What was added to an account. */
export type Things = 'go' | 'newer_go' | 'stay'

/**
 * THE table of events: what each does to every way into an account (docs/security.md). The holes of such systems are
 * where two features meet; so no feature ends anything by itself, and each cell has a test.
 */
// biome-ignore format: a table is read by its columns
export const SECURITY_EVENTS = {
  /** By the user, while signed in. */
  password_changed:       { sessions: 'others_end', links: 'die',       browsers: 'trust_ends', connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'forgotten' },
  /** By a link. A second factor was asked for before. */
  password_reset:         { sessions: 'end',        links: 'die',       browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'forgotten' },
  /** By an operator. */
  password_set:           { sessions: 'end',        links: 'die',       browsers: 'end',        connections: 'go',       passkeys: 'stay',     codes: 'stay',     wrongCodes: 'forgotten' },
  /** By an operator, for a user who has lost it; passkeys go where the operator says so. */
  second_factor_reset:    { sessions: 'end',        links: 'die',       browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'go',       wrongCodes: 'stay' },
  /** A confirmed change of address, or one by an operator. */
  email_changed:          { sessions: 'stay',       links: 'die',       browsers: 'stay',       connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay' },
  /** By an operator, after a theft: no other address gets the account back, and a thief who had it least of all. */
  email_taken_back:       { sessions: 'end',        links: 'all_die',   browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay' },
  /** What was added since the change was asked for goes. An older undo link stays: the newer one may be an attacker's. */
  email_undone:           { sessions: 'end',        links: 'newer_die', browsers: 'end',        connections: 'newer_go', passkeys: 'newer_go', codes: 'newer_go', wrongCodes: 'forgotten' },
  /** What the link names goes too. */
  not_me:                 { sessions: 'end',        links: 'asked_die', browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay' },
  /** The owner of an email proves it for the first time, on an account that anybody may have made. */
  taken_over:             { sessions: 'end',        links: 'all_die',   browsers: 'end',        connections: 'go',       passkeys: 'go',       codes: 'go',       wrongCodes: 'stay' },
  /** A provider, a passkey or a second factor was added or removed. */
  sign_in_method_changed: { sessions: 'others_end', links: 'stay',      browsers: 'trust_ends', connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay' },
  /** Its first app: a browser that became known by a password alone, before, may be a thief's. */
  first_app_set_up:       { sessions: 'others_end', links: 'stay',      browsers: 'end',        connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay' },
  disabled:               { sessions: 'end',        links: 'die',       browsers: 'stay',       connections: 'stay',     passkeys: 'stay',     codes: 'stay',     wrongCodes: 'stay' },
} as const satisfies Record<string, Effects>

export type SecurityEvent = keyof typeof SECURITY_EVENTS
