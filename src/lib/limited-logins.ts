/**
 * A limit refuses these logins to an account for a while: those from one network, those from anywhere but browsers that
 * the account knows, or those in such a browser.
 */
export const LIMITED_LOGINS_OF_ACCOUNT = ['in_network', 'anywhere', 'in_known_browser'] as const
export type LimitedLoginsOfAccount = (typeof LIMITED_LOGINS_OF_ACCOUNT)[number]

/** The logins to any account, from one network, are limited as well. */
export type LimitedLogins = LimitedLoginsOfAccount | 'of_network'
