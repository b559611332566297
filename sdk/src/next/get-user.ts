import { headers } from 'next/headers.js'
import { type Auth, createAuth } from '../auth/create-auth.ts'
import { type OutageOptions, printOutage } from '../guard/outage.ts'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import type { User } from '../user.ts'

export interface GetUserOptions extends OutageOptions {
  /** What `createAuth` returned. By default, the environment says how to reach svc. */
  auth?: Auth | undefined
}

let sharedAuth: Auth | undefined

// At the first request: a wrong variable is an error of the page that asks, and not of the import.
export const findAuth = ({ auth }: GetUserOptions): Auth => auth ?? (sharedAuth ??= createAuth())

/**
 * The user for a page that is open to everybody: null when nobody is signed in, and undefined while svc cannot say, so
 * that such a page goes on in an outage.
 */
export const getUser = async (options: GetUserOptions = {}): Promise<User | null | undefined> => {
  const received = await headers()
  try {
    return await findAuth(options).getUser(received)
  } catch (error) {
    if (!(error instanceof SvcUnavailableError)) throw error
    const { onUnavailable = printOutage } = options
    onUnavailable(error)
    return undefined
  }
}
