import type { LimitedLogins } from '../lib/limited-logins.ts'

const why: Record<LimitedLogins, string> = {
  in_network:
    'So many wrong passwords came for this account from your network that no more are checked for now, perhaps from someone else.',
  anywhere:
    'So many wrong passwords came for this account that no more are checked for now, perhaps from someone else.',
  in_known_browser:
    'So many wrong passwords were entered for this account in this browser that no more are checked here for now.',
  of_network: 'So many wrong passwords came from your network that no more are checked for now.',
}

/** The texts of a login that is refused because too many passwords were tried. */
export const limitTexts = {
  /** Before when to try again. */
  why,
  byMail: 'You need not wait: get a link by mail.',
  byMailOrKnownBrowser: 'You need not wait: get a link by mail, or use a browser in which you have logged in before.',
  link: 'Get a link to choose a new password',
  knownBrowser: 'You need not wait in a browser in which you have logged in before.',
  askOperator: (appName: string): string => `If you cannot wait, ask whoever runs ${appName}.`,
}
