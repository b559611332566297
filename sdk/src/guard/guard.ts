import { type Auth, createAuth } from '../auth/create-auth.ts'
import type { AuthOptions } from '../auth/settings.ts'
import type { RequestSource } from '../request/source.ts'
import { SvcUnavailableError } from '../svc-unavailable-error.ts'
import type { User } from '../user.ts'
import { type OutageOptions, printOutage } from './outage.ts'
import { type Refusal, refuseDuringOutage, refuseVisitor } from './refusal.ts'

/** How a framework reaches svc: by the options of `createAuth`, or by what `createAuth` returned. */
export interface GuardOptions extends AuthOptions, OutageOptions {
  auth?: Auth | undefined
}

/** The user whose request goes on, or the answer to send in its place. */
type Admission<Admitted> = { user: Admitted; refusal?: undefined } | { user?: undefined; refusal: Refusal }

/** What every framework does with a request before the application gets it. */
export interface Guard {
  /** Admits users who are signed in. */
  requireUser(source: RequestSource): Promise<Admission<User>>
  /** Admits everybody, with null for a visitor who is not signed in. */
  loadUser(source: RequestSource): Promise<Admission<User | null>>
}

/** The guard of one framework. Throws a `TypeError` for a setting that is wrong. */
export const createGuard = ({ auth, onUnavailable = printOutage, ...options }: GuardOptions): Guard => {
  const { getUser } = auth ?? createAuth(options)

  const loadUser = async (source: RequestSource): Promise<Admission<User | null>> => {
    try {
      return { user: await getUser(source) }
    } catch (error) {
      if (!(error instanceof SvcUnavailableError)) throw error
      onUnavailable(error)
      return { refusal: refuseDuringOutage(source, error) }
    }
  }

  return {
    loadUser,
    async requireUser(source) {
      const admission = await loadUser(source)
      if (admission.refusal) return admission
      return admission.user ? { user: admission.user } : { refusal: refuseVisitor(source) }
    },
  }
}
