/** "a", "a or b", "a, b or c" */
export const anyOf = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} or ${items.at(-1)}`

/** The texts of what the settings of a company change at login and signup. */
export const entryTexts = {
  signUpByProvider: 'An account here begins with one of these:',

  emailHint: (domains: readonly string[]): string => `An address of ${anyOf(domains)}.`,
  emailNotAscii: (asciiForm: string): string => `Enter this address as ${asciiForm}.`,
  emailNotAccepted: (domains: readonly string[]): string => `Use an email address of ${anyOf(domains)}.`,
}
