import { AppError } from '../../lib/errors.ts'
import type { AccountView } from './account-view.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { Services } from '../../http/services.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { readReturnTo } from '../../http/return-to.ts'
import type { FormAttempt, Refusal } from '../../http/route.ts'
import { doneOnAccount } from '../site/done.ts'

/** Handles `POST /auth/account/passkeys`: it renames or removes a passkey. A name that is refused is shown again. */
export const changePasskey = (
  deps: Pick<Services, 'baseUrl' | 'cookieWriter' | 'passkeys'>,
  context: RequestContext,
  session: AuthenticatedSession,
  attempt: FormAttempt,
): Promise<HttpResponse> => {
  const { passkeys } = deps
  const { form } = context
  const id = form.get('passkey_id')
  if (!id) throw new AppError('invalid_request', 'Say which passkey: passkey_id.', { field: 'passkey_id' })
  const isRemoval = form.get('remove') === '1'
  const name = form.get('name')
  if (!isRemoval && name === undefined) {
    throw new AppError('invalid_request', 'Say what to do: name, or remove=1.', { field: 'name' })
  }
  const returnTo = readReturnTo(context, deps, undefined)
  const event = isRemoval ? 'passkey_remove' : 'passkey_rename'
  return attempt({ event }, async (facts) => {
    await (isRemoval ? passkeys.remove(session, id, context) : passkeys.rename(session, id, name, context))
    // The id is set here and no earlier: it could be any text until now.
    facts.passkeyId = id
    const path = doneOnAccount(deps, context, session.userId, isRemoval ? 'passkey_removed' : 'passkey_renamed')
    return redirect(returnTo ?? path)
  })
}

/** The account page then shows this. */
export const refusedName = (
  { form }: RequestContext,
  { errors }: Refusal,
): Pick<AccountView, 'refusedPasskeyName'> => ({
  refusedPasskeyName: { id: form.get('passkey_id') ?? '', name: form.get('name') ?? '', problem: errors.name },
})
