import { AppError } from '../../../lib/errors.ts'
import { signInProblem } from '../../../oauth/errors.ts'
import type { Entrance, Errand, Flow, Vouched } from '../../../oauth/oauth.ts'
import type { ProviderView } from '../../../pages/pages.ts'
import type { SignedIn } from '../../../sessions/sessions.ts'
import type { EventInProgress } from '../../account-log.ts'
import { isToken, newToken } from '../../cookies.ts'
import type { RouteParts } from '../../deps.ts'
import { type Answer, redirect, type Visit } from '../../request-context.ts'
import { watchProvider } from '../../request-metrics.ts'
import { targetOf } from '../start-session.ts'
import { findState, MAX_ANSWER_LENGTH, readAnswer, readWhole } from './callback-parameters.ts'
import { createProof } from './link-account.ts'
import { letIn, orExplain, type Wish } from './problem-page.ts'

type Intent = 'link' | 'confirm' | undefined

const readIntent = ({ get }: Visit['form']): Intent => {
  const intent = get('intent')
  if (intent === undefined || intent === 'link' || intent === 'confirm') return intent
  throw new AppError('invalid_request', 'The field "intent" is link or confirm, or left out.', { field: 'intent' })
}

/** What a user returns from a provider with. */
interface Returned {
  flow: Flow
  /** The secret of the browser. */
  binding: string
  /** The event that the return is. */
  found: EventInProgress
}

const EVENTS = { sign_in: 'login', confirm: 'reauthentication', link: 'provider_connect' } as const

/** Whom the provider vouches for, who so proves the account that is to be connected to what is pending. */
interface Proven {
  proven: NonNullable<Flow['pending']>
  vouched: Vouched
  binding: string
}

/** Signing in by one provider: there (`POST /auth/oauth/{name}`) and back (its callback). */
export const createProviderSignIn = (parts: RouteParts, provider: ProviderView) => {
  const { oauth, sessions, limits, recognize, cookieWriter, baseUrl, meter, accountLog } = parts
  const proof = createProof(parts, provider)

  const requireSignedIn = async (visit: Visit): Promise<SignedIn> => {
    const signedIn = await recognize(visit)
    if (!signedIn) throw signInProblem('logged_out')
    return signedIn
  }

  /** An errand for who is signed in: to link the provider, or to confirm by it. */
  const ownErrand = async (visit: Visit, intent: 'link' | 'confirm'): Promise<Errand> => {
    const signedIn = await requireSignedIn(visit)
    if (intent === 'link') sessions.requireFresh(signedIn)
    return { provider: provider.name, intent, target: '/auth/account', userId: signedIn.userId }
  }

  const errandOf = async (visit: Visit, target: string, intent: Intent): Promise<Errand> => {
    if (intent) return ownErrand(visit, intent)
    const sealed = visit.form.get('pending')
    if (sealed === undefined) return { provider: provider.name, intent: 'sign_in', target }
    const { target: pendingTarget, ...pending } = oauth.openPending(sealed, visit.cookies.oauth)
    // Another provider than the one that is pending may be here: the account's own, which is to prove it.
    await oauth.requireProvableBy(provider.name, pending.userId)
    return { provider: provider.name, intent: 'sign_in', target: pendingTarget, pending }
  }

  /** Who began the flow for his own account. It may be another session by now: he may have confirmed in another tab. */
  const requireOwner = async (visit: Visit, { userId }: Flow): Promise<SignedIn> => {
    const signedIn = await requireSignedIn(visit)
    if (signedIn.userId !== userId) throw signInProblem('logged_out')
    return signedIn
  }

  /** The user has proved by this provider that the account is theirs: the pending one is connected to it. */
  const linkProven = async (visit: Visit, { proven, vouched, binding }: Proven): Promise<Entrance | undefined> => {
    oauth.requireCurrent(proven)
    const { userId } = proven
    const entrance = await oauth.linkProven(proven, binding, await oauth.readmit(vouched, userId))
    if (entrance) accountLog.note(visit, { event: 'provider_connect', method: proven.vouched.provider, userId })
    return entrance
  }

  const signIn = async (visit: Visit, returned: Returned, vouched: Vouched): Promise<Answer> => {
    const { flow, binding, found } = returned
    const { pending: proven, target } = flow
    if (proven) return letIn(parts, visit, await linkProven(visit, { proven, vouched, binding }), { target, found })
    const { network } = visit
    const admitted = await oauth.admit(vouched, (signUp) => limits.attempt([['signupOfAddress', network]], signUp))
    if (!('taken' in admitted)) {
      if (admitted.isNew) found.event = 'signup'
      return letIn(parts, visit, admitted, { target, found })
    }
    Object.assign(found, { userId: admitted.taken.userId, reason: 'proof_required' })
    const pending = await oauth.rememberPending(vouched, admitted.taken.userId, target, binding)
    return proof.ask(visit, pending, admitted.taken, binding)
  }

  const conclude = async (visit: Visit, returned: Returned): Promise<Answer> => {
    const { flow, binding, found } = returned
    const owner = flow.intent === 'sign_in' ? undefined : await requireOwner(visit, flow)
    Object.assign(found, { userId: owner?.userId, sessionId: owner?.sessionId })
    const vouched = await oauth.finish(flow, readWhole(visit.query), binding)
    if (!owner) return signIn(visit, returned, vouched)
    if (flow.intent === 'confirm') {
      const target = `${flow.target}?done=confirmed`
      return letIn(parts, visit, await oauth.readmit(vouched, owner.userId), { target, found })
    }
    await oauth.linkOwn(vouched, owner)
    return redirect(`${flow.target}?done=linked`)
  }

  /** What whoever tries again wants still; what is pending stays with the browser that it was given to. */
  const wishOf = ({ flow, problem }: ReturnType<typeof oauth.recall>, binding: string | undefined): Wish => ({
    provider,
    target: flow?.target ?? '/',
    intent: flow?.intent === 'sign_in' ? undefined : flow?.intent,
    pending:
      flow?.pending && binding && !problem
        ? oauth.closePending({ ...flow.pending, target: flow.target }, binding)
        : undefined,
  })

  const orExplainAndCount = (visit: Visit, wish: Wish, action: () => Promise<Answer>): Promise<Answer> =>
    orExplain(parts, visit, wish, () => watchProvider(meter, provider.name, action))

  return {
    start(visit: Visit): Promise<Answer> {
      const target = targetOf(visit, baseUrl)
      const intent = readIntent(visit.form)
      const sealed = visit.form.get('pending')
      const isGood = oauth.isPending(sealed, visit.cookies.oauth)
      const wish = { provider, target, intent, pending: isGood ? sealed : undefined }
      return orExplainAndCount(visit, wish, async () => {
        limits.count('providerOfAddress', visit.network)
        const binding = isToken(visit.cookies.oauth) ? visit.cookies.oauth : newToken()
        const url = await oauth.begin(await errandOf(visit, target, intent), binding)
        visit.setCookies([cookieWriter.oauth(binding)])
        return redirect(url.href)
      })
    },

    callback(visit: Visit): Promise<Answer> {
      const { query, cookies } = visit
      const binding = cookies.oauth
      const recalled = oauth.recall(findState(query), provider.name, binding)
      const { flow, problem } = recalled
      const event: EventInProgress = { event: EVENTS[flow?.intent ?? 'sign_in'], method: provider.name }
      return orExplainAndCount(visit, wishOf(recalled, binding), () =>
        accountLog.watch(visit, event, async (found) => {
          if (problem || !flow || !binding) throw signInProblem(problem ?? 'unreadable')
          const concluded = await conclude(visit, { flow, binding, found })
          meter?.countProviderSignIn(provider.name, 'redirect' in concluded ? 'succeeded' : 'proof_asked')
          return concluded
        }),
      )
    },

    /** A provider that answers by a form posts from its own site, without our cookies: the `GET` will have them. */
    relay(visit: Visit): Answer {
      const answer = readAnswer(visit.form).toString()
      if (answer.length <= MAX_ANSWER_LENGTH) return redirect(`/auth/oauth/${provider.name}/callback?${answer}`)
      throw new AppError('invalid_request', `The answer is longer than ${MAX_ANSWER_LENGTH} characters.`)
    },

    proveByPassword: proof.byPassword,
    claim: proof.claim,
  }
}
