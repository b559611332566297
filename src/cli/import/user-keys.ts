import type { ImportedUser } from '../../accounts/accounts.ts'

/** What no two users of a file may have in common, as one text each. Emails and ids are the same in any case. */
export const keysOf = ({ sourceId, email, username, identities }: ImportedUser): string[] => [
  ...(sourceId === undefined ? [] : [`id ${sourceId.toLowerCase()}`]),
  `email ${email.lower}`,
  ...(username === undefined ? [] : [usernameKey(username)]),
  ...identities.map(({ issuer, subject }) => `identities ${JSON.stringify([issuer, subject])}`),
]

export const usernameKey = (username: string): string => `username ${username}`

/** The field that a key was made from. */
export const fieldOfKey = (key: string): string => key.slice(0, key.indexOf(' '))
