import type { Caller } from '../lib/caller.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { OwnSession } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import { createChallenges } from './challenge.ts'
import { type CreationOptions, type RequestOptions, requestOptions } from './options.ts'
import { createOwnPasskeys, type OwnPasskey, type OwnPasskeysDeps } from './own-passkeys.ts'
import type { Passkey } from './passkey.ts'
import {
  type AddedPasskey,
  type CheckedRegistration,
  createPasskeyRegistration,
  type NewPasskeyRequest,
  type PasskeyRegistrationDeps,
} from './registration.ts'
import { findPasskeysOfUser, findUserHandle } from './passkey-store.ts'
import {
  createPasskeySignIn,
  type LimitedCheck,
  type PasskeyProof,
  type PasskeySignInDeps,
  type RequiredPasskey,
} from './sign-in.ts'

export type { Passkey } from './passkey.ts'
export type { AddedPasskey, CheckedRegistration } from './registration.ts'
export { UnknownPasskeyError } from './problems.ts'
export type { LimitedCheck, PasskeyProof } from './sign-in.ts'

/**
 * Passkeys (WebAuthn Level 3). `browserSecret`, in a cookie, binds each challenge to one browser. A `response` is what
 * the browser made of the authenticator's, as it came, or its JSON text; `invalid_request` where it cannot be read or
 * its challenge is not good.
 */
export interface Passkeys {
  /** Whether there are passkeys here: the functions are to be called only then. */
  isOn: boolean

  // Signing in.
  loginOptions(browserSecret: string): Promise<RequestOptions>
  /** `unauthorized` when it proves nothing, `forbidden` when the account is disabled. */
  signIn(check: AssertionCheck, caller: Caller): Promise<PasskeyProof>
  /** The same, by a passkey of this user; to be called where a user proves once more who they are. */
  checkAssertion(check: RequiredPasskey & AssertionCheck, caller: Caller): Promise<PasskeyProof>

  // Adding a passkey: by a session, or by whatever else allows it.
  /** `conflict` when the user has as many as they may. `email`: where it is not that of the account as it is now. */
  registrationOptions(userId: string, browserSecret: string, email?: string): Promise<CreationOptions>
  /** `invalid_request` for a passkey that cannot be used, `unprocessable` for a name that cannot be shown. */
  checkRegistration(request: NewPasskeyRequest): Promise<CheckedRegistration>
  /** For the user of a session; `forbidden` without a recent sign-in. */
  add(session: OwnSession, checked: CheckedRegistration, caller: Caller): Promise<AddedPasskey>
  /** For a user who signs in, in the transaction that has locked them; before their session is inserted. */
  addAtSignIn(
    transaction: Transaction,
    userId: string,
    checked: CheckedRegistration,
    caller: Caller,
  ): Promise<AddedPasskey>

  // The passkeys of a user.
  list(userId: string): Promise<OwnPasskey[]>
  /**
   * What a browser is told so that it offers none that was removed (`AllAcceptedCredentialsOptions`, section 5.1.10.3).
   * Undefined for a user whom no authenticator knows.
   */
  accepted(userId: string): Promise<AcceptedPasskeys | undefined>
  /** `not_found`, or `forbidden` without a recent sign-in. Resolves to the name as it is stored. */
  rename(session: OwnSession, id: string, name: unknown, caller: Caller): Promise<string>
  /** The same, and `conflict` for the last way to sign in. */
  remove(session: OwnSession, id: string, caller: Caller): Promise<Passkey>
}

interface AcceptedPasskeys {
  rpId: string
  userId: string
  allAcceptedCredentialIds: string[]
}

interface AssertionCheck {
  response: unknown
  browserSecret: string | undefined
  /** Nothing but a signature counts there: what does not get that far costs nothing, and guesses nothing. */
  limited?: LimitedCheck | undefined
}

interface PasskeysDeps
  extends OwnPasskeysDeps,
    Pick<PasskeySignInDeps, 'endWrongCodes'>,
    Omit<PasskeyRegistrationDeps, 'challenges' | 'origin'> {
  rootSecret: RootSecret
  /** The public origin of the service. */
  baseUrl: string
}

export const createPasskeys = (deps: PasskeysDeps): Omit<Passkeys, 'isOn'> => {
  const { relyingParty } = deps
  const origin = new URL(deps.baseUrl).origin
  const challenges = createChallenges(deps)
  const signIn = createPasskeySignIn({ ...deps, challenges, origin, relyingPartyId: relyingParty.id })
  const registration = createPasskeyRegistration({ ...deps, challenges, origin })
  return {
    loginOptions: async (browserSecret) => requestOptions(challenges.make('sign_in', browserSecret), relyingParty.id),
    signIn: ({ response, browserSecret, limited }, caller) => signIn(response, { browserSecret, caller, limited }),
    checkAssertion: ({ response, browserSecret, limited, ...required }, caller) =>
      signIn(response, { browserSecret, caller, limited }, required),
    registrationOptions: registration.options,
    checkRegistration: registration.check,
    ...createOwnPasskeys(deps),

    async accepted(userId) {
      const userHandle = await findUserHandle(deps.db, userId)
      if (userHandle === undefined) return undefined
      const passkeys = await findPasskeysOfUser(deps.db, userId)
      const allAcceptedCredentialIds = passkeys.map(({ credentialId }) => credentialId)
      return { rpId: relyingParty.id, userId: userHandle, allAcceptedCredentialIds }
    },
  }
}
