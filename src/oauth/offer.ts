import type { Caller } from '../lib/caller.ts'
import type { Email } from '../lib/email-address.ts'
import { isUniqueViolation, type Transaction } from '../storage/database.ts'
import { type ProviderProof, type ProviderFactor, proofOfProvider } from './provider-factor.ts'
import { type ConnectDeps, linkedEvent } from './connect.ts'
import { signInProblem } from './errors.ts'
import { findIdentity, insertIdentity } from './identity-store.ts'
import { newIdentity, type ProviderProfile } from './profile.ts'

/** An account at a provider, whose owner has just signed in there. */
export interface OfferedProvider {
  proof: ProviderProof
  /** Both are the provider's name in the settings. */
  method: string
  provider: string
  verifiedEmail: Email | undefined
  /** Connects it to a user whose row the transaction has locked; `conflict` where another user has it. */
  connect: (transaction: Transaction, userId: string) => Promise<void>
}

interface OfferDeps extends Omit<ConnectDeps, 'db'> {
  factorOf: (profile: ProviderProfile) => ProviderFactor
}

/** Offers a provider account for a transaction of another subject, which may connect it. */
export const createOffer = ({ clock, notify, recordEvent, labelOf, factorOf }: OfferDeps) => {
  const connect = async (
    transaction: Transaction,
    profile: ProviderProfile,
    { userId, caller }: { userId: string; caller: Caller },
  ): Promise<void> => {
    // Looked for first: a transaction that has failed cannot say whose it is.
    const connected = await findIdentity(transaction, profile)
    if (connected && connected.userId !== userId) throw signInProblem('linked_elsewhere')
    if (connected) return
    const identity = newIdentity(profile, userId, clock.now())
    await insertIdentity(transaction, identity)
    const provider = labelOf(profile.provider)
    await notify(transaction, userId, { kind: 'provider_connected', provider, identityId: identity.id }, caller)
    await recordEvent(transaction, linkedEvent(identity), caller)
  }

  return async <T>(
    profile: ProviderProfile,
    caller: Caller,
    use: (offered: OfferedProvider) => Promise<T>,
  ): Promise<T> => {
    try {
      const { provider } = profile
      return await use({
        proof: proofOfProvider(factorOf(profile)),
        method: provider,
        provider,
        verifiedEmail: profile.emailVerified ? profile.email : undefined,
        connect: (transaction, userId) => connect(transaction, profile, { userId, caller }),
      })
    } catch (error) {
      // Another request has connected it at the same moment.
      throw isUniqueViolation(error, 'identities.subject') ? signInProblem('linked_elsewhere', error) : error
    }
  }
}
