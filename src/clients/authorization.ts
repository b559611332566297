import { randomUUID } from 'node:crypto'
import type { RootSecret } from '../lib/derived-keys.ts'
import { createBoundedCache } from '../lib/bounded-cache.ts'
import { createSealedTokens, type OpenedToken } from '../lib/sealed-token.ts'
import type { Clock } from '../lib/time.ts'
import type { SessionRules } from '../sessions/sign-in-grant.ts'
import { type AuthenticatedSession, currentTimeMs } from '../sessions/sessions.ts'
import type { Database } from '../storage/database.ts'
import { compareClocks } from '../storage/server-clock.ts'
import { spendToken } from '../storage/used-tokens.ts'
import { type AuthorizeOutcome, decideAuthorize } from './authorize-policy.ts'
import { createFacts, type DecidedBy, isMemorable } from './authorize-facts.ts'
import {
  type GoodRequest,
  isTooLong,
  readRequest,
  type Recipient,
  type RequestRefusal,
  type SentRequest,
} from './authorize-request.ts'
import { isClientEnabled, updateClientUse } from './client-store.ts'
import type { Client } from './client.ts'
import type { ClientSettings } from './client-settings.ts'
import { issueCode } from './codes.ts'
import { isRemembered, remember } from './consent-store.ts'
import { isRedirectUriOf } from './redirect-uri.ts'
import type { Registry } from './registry.ts'
import type { ClientTokens } from './tokens.ts'

const REQUEST_LIFETIME_MS = 60 * 60_000
const CONSENT_LIFETIME_MS = 10 * 60_000

/** A client that was good may be disabled since, and nobody can look: so long, it is still told that svc cannot answer. */
const RECENT_MS = 5 * 60_000
const KEPT_CLIENTS = 1000

/** A request travels with the browser in this form, sealed. */
export interface HeldRequest {
  sent: SentRequest
  /** A proof is for this request if it is not older; by the clock of the rows. */
  beganAtMs: number
  /** It may be sealed again on its way, and still ends then, by the clock of processes. */
  expiresAtMs: number
}

/** The form of the consent page brings this back. A user has seen it. */
export interface ShownConsent {
  /** A row with this id marks it as used. */
  id: string
  held: HeldRequest
  userId: string
  scopes: readonly string[]
  resource: string | undefined
}

/** This mistake is shown to the developer on a page: the browser must not be sent anywhere. */
export type RecipientProblem =
  | 'client_missing'
  | 'client_unknown'
  | 'redirect_missing'
  | 'redirect_unknown'
  | 'parameter_repeated'
  | 'too_long'

export type LookedAt =
  | { problem: RecipientProblem }
  | { recipient: Recipient; refusal: RequestRefusal }
  | { good: GoodRequest }
  /** The document of a client is fetched for a user alone. Where nobody may be asked to log in, this is the problem. */
  | { needsUser: RecipientProblem }

/** A user who is signed in is asked, or has allowed it. */
interface Asked {
  good: GoodRequest
  session: AuthenticatedSession
}

export interface Authorization {
  readonly requestLifetimeMs: number
  begin(sent: SentRequest): Promise<HeldRequest>
  seal(held: HeldRequest, browserSecret: string): string
  open(sealed: string | undefined, browserSecret: string | undefined): OpenedToken<HeldRequest> | undefined
  /** Finds the client, and then its redirect URI, and only then what else is wrong with the request. */
  look(held: HeldRequest, userId: string | undefined): Promise<LookedAt>
  /**
   * Finds where a request came from while the database is away: its client was good here a moment ago, and its redirect
   * URI was its own. Nobody may be sent to any other.
   */
  recipientOf(sent: SentRequest): Recipient | undefined
  /** Says what happens to a good request. */
  decide(good: GoodRequest, about: DecidedBy): Promise<AuthorizeOutcome>
  sealConsent(asked: Asked & { held: HeldRequest }, browserSecret: string): string
  openConsent(sealed: string | undefined, browserSecret: string | undefined): OpenedToken<ShownConsent> | undefined
  /**
   * Issues a code, in the transaction that holds the session, uses the consent up, and remembers it. It resolves to
   * undefined if the consent was used before or is remembered no longer, or the client was disabled; it throws
   * `unauthorized` if the session has ended.
   */
  issue(asked: Asked, consent?: ShownConsent): Promise<string | undefined>
}

interface AuthorizationDeps extends Pick<ClientSettings, 'resources' | 'scopes'>, Pick<SessionRules, 'requireSession'> {
  db: Database
  clock: Clock
  rootSecret: RootSecret
  registry: Pick<Registry, 'find' | 'findForAuthorize' | 'isDocumentId'>
  readIdTokenHint: ClientTokens['readIdTokenHint']
}

export const createAuthorization = (deps: AuthorizationDeps): Authorization => {
  const { db, clock, rootSecret, registry, requireSession } = deps
  const shared = { rootSecret, clock }
  const requests = createSealedTokens<HeldRequest>({
    ...shared,
    purpose: 'authorization request',
    lifetimeMs: REQUEST_LIFETIME_MS,
  })
  const consents = createSealedTokens<ShownConsent>({ ...shared, purpose: 'consent', lifetimeMs: CONSENT_LIFETIME_MS })
  const findFacts = createFacts(deps)
  const recent = createBoundedCache<{ client: Client; atMs: number }>(KEPT_CLIENTS)

  const findClient = async (id: string, userId: string | undefined): Promise<Client | undefined> => {
    const client = await (userId === undefined ? registry.find(id) : registry.findForAuthorize(id, userId))
    if (client) recent.set(id, { client, atMs: clock.now() })
    else recent.delete(id)
    return client
  }

  return {
    requestLifetimeMs: REQUEST_LIFETIME_MS,
    begin: async (sent) => ({
      sent,
      beganAtMs: (await compareClocks(db, clock)).nowMs,
      expiresAtMs: clock.now() + REQUEST_LIFETIME_MS,
    }),
    seal: requests.seal,
    open(sealed, browserSecret) {
      const opened = requests.open(sealed, browserSecret)
      const isExpired = opened?.problem === undefined && (opened?.content.expiresAtMs ?? 0) <= clock.now()
      return opened && isExpired ? { ...opened, problem: 'expired' } : opened
    },

    async look({ sent }, userId) {
      const { client_id: id, redirect_uri: redirectUri } = sent.parameters
      if (hasRepeatedRecipient(sent)) return { problem: 'parameter_repeated' }
      if (id === undefined) return { problem: 'client_missing' }
      const client = await findClient(id, userId)
      if (redirectUri === undefined && client) return { problem: 'redirect_missing' }
      const isRecipient = client !== undefined && redirectUri !== undefined && isRedirectUriOf(client, redirectUri)
      // The document may say something else by now.
      if (!isRecipient && userId === undefined && registry.isDocumentId(id))
        return isTooLong(sent.parameters)
          ? { problem: 'too_long' }
          : { needsUser: client ? 'redirect_unknown' : 'client_unknown' }
      if (!client) return { problem: 'client_unknown' }
      if (!isRecipient) return { problem: 'redirect_unknown' }
      const recipient = toRecipient(sent, client, redirectUri)
      const read = readRequest(sent, client, deps)
      if ('refusal' in read) return { recipient, ...read }
      const { idTokenHint } = read.request
      const hint = idTokenHint === undefined ? undefined : await deps.readIdTokenHint(idTokenHint)
      if (idTokenHint !== undefined && hint?.clientId !== client.id) return { recipient, refusal: BAD_HINT }
      return { good: { ...recipient, ...read, hintedUserId: hint?.userId } }
    },

    recipientOf(sent) {
      const { client_id: id = '', redirect_uri: redirectUri } = sent.parameters
      const known = recent.get(id)
      if (!known || known.atMs + RECENT_MS < clock.now() || hasRepeatedRecipient(sent)) return undefined
      const isRecipient = redirectUri !== undefined && isRedirectUriOf(known.client, redirectUri)
      return isRecipient ? toRecipient(sent, known.client, redirectUri) : undefined
    },

    decide: async (good, about) => decideAuthorize(await findFacts(good, about)),

    sealConsent: ({ good, session, held }, browserSecret) =>
      consents.seal(
        {
          id: randomUUID(),
          held,
          userId: session.userId,
          scopes: good.request.scopes,
          resource: good.request.resource,
        },
        browserSecret,
      ),
    openConsent: consents.open,

    issue: ({ good, session: { sessionId, userId } }, consent) =>
      db.inTransaction(async (transaction) => {
        const { client, redirectUri, request } = good
        const { scopes, resource, challenge, nonce } = request
        const session = await requireSession(transaction, sessionId, userId)
        const nowMs = currentTimeMs(session, clock)
        const expiresAtMs = nowMs + 2 * CONSENT_LIFETIME_MS
        if (consent && !(await spendToken(transaction, { id: `consent ${consent.id}`, expiresAtMs }))) return undefined
        // The update comes first: two transactions that shared the row would wait for each other.
        await updateClientUse(transaction, client.id, nowMs)
        if (!(await isClientEnabled(transaction, client.id))) return undefined
        const allowed = { userId, clientId: client.id, resource, scopes }
        if (consent && isMemorable(good)) await remember(transaction, allowed, nowMs)
        else if (isMemorable(good) && !(await isRemembered(transaction, allowed))) return undefined
        const { authenticatedAtMs, amr } = session
        const about = { clientId: client.id, userId, sessionId, redirectUri, challenge, scopes, resource, nonce }
        return issueCode(transaction, { ...about, authenticatedAtMs, amr }, nowMs)
      }),
  }
}

const hasRepeatedRecipient = ({ repeated }: SentRequest): boolean =>
  repeated.includes('client_id') || repeated.includes('redirect_uri')

/** Nobody knows which of several states is the client's. */
const toRecipient = ({ parameters, repeated }: SentRequest, client: Client, redirectUri: string): Recipient => ({
  client,
  redirectUri,
  state: repeated.includes('state') ? undefined : parameters.state,
})

const BAD_HINT: RequestRefusal = {
  error: 'invalid_request',
  description: 'id_token_hint is no ID token that this client has got here.',
}
