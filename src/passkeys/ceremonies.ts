import type { Challenges, OpenedChallenge } from './challenge.ts'
import type { Passkey } from './passkey.ts'
import { unusablePasskey, wrongPasskey } from './problems.ts'
import { type Assertion, readAssertion, readClientData, readRegistration, type Registration } from './response.ts'
import { type NewPasskey, type Use, verifyAssertion, verifyRegistration } from './verification.ts'

/** What passkeys are made for: one site, which gives its own challenges. */
export interface Ceremonies {
  /**
   * Reads the response of a passkey that proves who its owner is. Throws `invalid_request` if it cannot be read, or its
   * challenge is not one that this browser was given.
   */
  readProof(response: unknown, browserSecret: string | undefined): ReadProof
  /** Checks a new passkey of an account. Throws `invalid_request` for one that cannot be used. */
  checkNew(response: unknown, account: { userId: string; browserSecret: string | undefined }): Promise<CheckedNew>
}

interface ReadProof {
  assertion: Assertion
  challenge: OpenedChallenge
  /** Throws where the page was inside one of another site. */
  requireUnframed(): void
  /** Checks the signature. Throws `unauthorized` if it proves nothing. */
  verify(passkey: Passkey): Promise<Use>
}

interface CheckedNew {
  verified: NewPasskey
  transports: Registration['transports']
  challenge: OpenedChallenge
}

interface CeremoniesDeps {
  challenges: Challenges
  origin: string
  relyingPartyId: string
}

export const createCeremonies = ({ challenges, origin, relyingPartyId }: CeremoniesDeps): Ceremonies => ({
  readProof(response, browserSecret) {
    const assertion = readAssertion(response)
    const { challenge, isFramed } = readClientData(assertion.clientDataJSON)
    return {
      assertion,
      challenge: challenges.require(challenge, 'sign_in', browserSecret),
      requireUnframed() {
        if (isFramed) throw wrongPasskey(FRAMED)
      },
      verify: (passkey) =>
        verifyAssertion(assertion, passkey, { challenge, origin, relyingPartyId }).catch((cause: unknown) => {
          throw wrongPasskey(cause)
        }),
    }
  },

  async checkNew(response, { userId, browserSecret }) {
    const registration = readRegistration(response)
    const { challenge, isFramed } = readClientData(registration.clientDataJSON)
    const opened = challenges.require(challenge, 'register', browserSecret, userId)
    if (isFramed) throw unusablePasskey(FRAMED)
    const verified = await verifyRegistration(registration, { challenge, origin, relyingPartyId }).catch(
      (cause: unknown) => {
        throw unusablePasskey(cause)
      },
    )
    return { verified, transports: registration.transports, challenge: opened }
  },
})

const FRAMED = new Error('the page was inside one of another site')

/** A copy of the authenticator may be in use (WebAuthn section 6.1.1), or it was restored from a backup. */
export const counterWentBack = (passkey: Pick<Passkey, 'signCount'>, { signCount }: Use): boolean =>
  (signCount > 0 || passkey.signCount > 0) && signCount <= passkey.signCount
