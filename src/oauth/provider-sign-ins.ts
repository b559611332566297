import { createExistingAccounts, type ExistingAccountsDeps } from './existing-account.ts'
import { createLinking, type LinkingDeps } from './linking.ts'
import { createOffer } from './offer.ts'
import { createSignIn, type SignInDeps } from './sign-in.ts'

type ProviderSignInsDeps = ExistingAccountsDeps & Omit<SignInDeps, 'describeAccount'> & Omit<LinkingDeps, 'signInAs'>

/** What a user needs who comes back from a provider. */
export const createProviderSignIns = (deps: ProviderSignInsDeps) => {
  const existingAccounts = createExistingAccounts(deps)
  const signIns = createSignIn({ ...deps, ...existingAccounts })
  const linking = createLinking({ ...deps, ...signIns })
  return { ...existingAccounts, ...signIns, ...linking, offer: createOffer(deps) }
}
