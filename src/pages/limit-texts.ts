/** The texts of a login that is refused because too many passwords were tried. */
export const limitTexts = {
  ofAccount:
    'So many wrong passwords came for this account that no more are checked for now, perhaps from someone else.',
  ofNetwork: 'So many wrong passwords came from your network that no more are checked for now.',
  /** Around the link. */
  noWait: 'You need not wait: ',
  link: 'get a link to choose a new password',
  orKnownBrowser: ', or use a browser in which you have logged in before.',
  knownBrowser: 'You need not wait in a browser in which you have logged in before.',
  askOperator: (appName: string): string => `If you cannot wait, ask whoever runs ${appName}.`,
}
