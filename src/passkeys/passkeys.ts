import type { Caller } from '../lib/caller.ts'
import type { RootSecret } from '../lib/derived-keys.ts'
import type { OwnSession } from '../sessions/sign-in-grant.ts'
import type { Transaction } from '../storage/database.ts'
import { createCeremonies } from './ceremonies.ts'
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
 * Handles passkeys (WebAuthn Level 3). `browserSecret`, in a cookie, binds each challenge to one browser. A `response`
 * is the authenticator's answer in the form that the browser gave it, or its JSON text. A function throws
 * `invalid_request` if the response cannot be read or its challenge is not good.
 */
export interface Passkeys {
  /** It tells whether passkeys are on: the functions may be called only then. */
  isOn: boolean

  // Users sign in by these.
  loginOptions(browserSecret: string): Promise<RequestOptions>
  /** Throws `unauthorized` when it proves nothing, and `forbidden` when the account is disabled. */
  signIn(check: AssertionCheck, caller: Caller): Promise<PasskeyProof>
  /** Does the same by a passkey of this user; it is called when a user proves once more who they are. */
  checkAssertion(check: RequiredPasskey & AssertionCheck, caller: Caller): Promise<PasskeyProof>

  // Users add a passkey by these, allowed by a session or by something else.
  /**
   * Throws `conflict` when the user has as many as they may. `email` is given if it is not the account's current one.
   */
  registrationOptions(userId: string, browserSecret: string, email?: string): Promise<CreationOptions>
  /**
   * Throws `invalid_request` for a passkey that cannot be used, and `unprocessable` for a name that cannot be shown.
   */
  checkRegistration(request: NewPasskeyRequest): Promise<CheckedRegistration>
  /** Adds it for the user of a session; it throws `forbidden` without a recent sign-in. */
  add(session: OwnSession, checked: CheckedRegistration, caller: Caller): Promise<AddedPasskey>
  /** Adds it for a user who signs in, in the transaction that has locked them; before their session is inserted. */
  addAtSignIn(
    transaction: Transaction,
    userId: string,
    checked: CheckedRegistration,
    caller: Caller,
  ): Promise<AddedPasskey>

  // Users see and change their passkeys by these.
  list(userId: string): Promise<OwnPasskey[]>
  /**
   * Tells a browser which passkeys there are, so that it offers none that was removed (`AllAcceptedCredentialsOptions`,
   * section 5.1.10.3). It resolves to undefined for a user whom no authenticator knows.
   */
  accepted(userId: string): Promise<AcceptedPasskeys | undefined>
  /** Throws `not_found`, or `forbidden` without a recent sign-in. It resolves to the name as it is stored. */
  rename(session: OwnSession, id: string, name: unknown, caller: Caller): Promise<string>
  /** Throws the same errors, and `conflict` for the last way to sign in. */
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
  /**
   * A response counts there only once its signature is checked: one that fails earlier costs nothing, and guesses
   * nothing.
   */
  limited?: LimitedCheck | undefined
}

interface PasskeysDeps
  extends OwnPasskeysDeps,
    Pick<PasskeySignInDeps, 'endWrongCodes'>,
    Omit<PasskeyRegistrationDeps, 'challenges' | 'ceremonies'> {
  rootSecret: RootSecret
  baseUrl: string
}

export const createPasskeys = (deps: PasskeysDeps): Omit<Passkeys, 'isOn'> => {
  const { relyingParty } = deps
  const origin = new URL(deps.baseUrl).origin
  const challenges = createChallenges({ ...deps, purpose: 'passkey challenge' })
  const ceremonies = createCeremonies({ challenges, origin, relyingPartyId: relyingParty.id })
  const signIn = createPasskeySignIn({ ...deps, ceremonies })
  const registration = createPasskeyRegistration({ ...deps, challenges, ceremonies })
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
