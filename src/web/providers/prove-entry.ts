import type { Proof } from '../../sign-in/amr.ts'
import type { EntryPurpose } from '../../links/link.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { HttpResponse } from '../../http/response.ts'
import { createAskedFactor } from '../sign-in/asked-factor.ts'
import { findSessionsBeside, requireLink } from '../sign-in/link-token.ts'
import { orShowAgain } from '../../http/form-runner.ts'
import type { ProviderServices } from './provider-services.ts'

/** Nobody has a second factor on an account that they were invited to, and have not entered yet. */
type AskingPurpose = Exclude<EntryPurpose, 'invite'>

/**
 * Handles the second factor of an account that is entered by a link and a provider. The page of the link asks for it,
 * and it is used up before the browser goes to the provider. The sign-in there remembers what was proved.
 */
export const createEntryProof = (deps: ProviderServices) => {
  const { links } = deps
  const askedFactor = createAskedFactor(deps)

  const prove = async (context: RequestContext, purpose: AskingPurpose) => {
    const { link } = await requireLink(deps, context, purpose)
    const { isOwn: isOwnSession } = await findSessionsBeside(deps, context, link)
    const asked = await links.entry.findAsked({ link, isOwnSession })
    const factor = await askedFactor.prove(context, asked)
    if (!asked || !factor) return undefined
    await links.useFactor(asked, factor)
    return factor.proof
  }

  /** Goes on with the proof, if one is asked for; a wrong code shows the page of the link again. */
  return (
    context: RequestContext,
    purpose: AskingPurpose,
    goOn: (proved: Proof | undefined) => Promise<HttpResponse>,
  ): Promise<HttpResponse> =>
    orShowAgain(
      context,
      async () => goOn(await prove(context, purpose)),
      async (refusal) => deps.linkPages[purpose].showAgain(context, refusal),
    )
}
