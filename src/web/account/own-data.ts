import type { AuditRow } from '../../audit/audit.ts'
import { toTimestamp } from '../../lib/time.ts'
import type { AuthenticatedSession } from '../../sessions/sessions.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Services } from '../../http/services.ts'
import { actorOf } from './sections.ts'

/** So many records are in memory at once. */
const RECORDS_AT_ONCE = 500

/** An account has at most 100 sessions, and more only from before there was a limit. */
const MOST_SESSIONS = 1000

type OwnDataServices = Pick<
  Services,
  | 'audit'
  | 'clock'
  | 'hasClients'
  | 'knownBrowsers'
  | 'loadClients'
  | 'oauth'
  | 'passkeys'
  | 'passwords'
  | 'links'
  | 'secondFactors'
  | 'sessions'
  | 'users'
>

const timeOrNull = (atMs: number | null | undefined): string | null => (atMs ? toTimestamp(atMs) : null)

/** Of the details of a record, these say what happened; the others are ids and hashes. */
const SHOWN_DETAILS = ['method', 'provider', 'client_name', 'scopes', 'reason', 'limit', 'count', 'roles']

/** Where an operator acted, address and browser are theirs, and not the user's. */
const recordJson = ({ atMs, type, actor, address, userAgent, details }: AuditRow): string => {
  const by = actorOf(actor)
  const shown = Object.entries(JSON.parse(details) as object).filter(([name]) => SHOWN_DETAILS.includes(name))
  const device = by === 'user' ? { address: address ?? null, user_agent: userAgent ?? null } : {}
  return JSON.stringify({ at: toTimestamp(atMs), type, by, ...device, ...Object.fromEntries(shown) })
}

/** Gathers what svc keeps about a user, for them: no secret, no hash, and no id but that of the user. */
export const createOwnData = (deps: OwnDataServices) => {
  const findAccount = async (session: AuthenticatedSession) => {
    const { userId } = session
    const user = await deps.users.find(userId)
    return {
      id: userId,
      email: session.email,
      email_verified_at: timeOrNull(user?.emailVerifiedAtMs),
      email_change_requested: (await deps.links.emailChanges.findRequested(userId)) ?? null,
      username: session.username,
      name: session.name ?? null,
      language: session.language,
      roles: session.roles,
      created_at: toTimestamp(session.createdAtMs),
    }
  }

  const findWaysIn = async (userId: string) => {
    const hasPassword = await deps.users.hasPassword(userId)
    const { codes, recoveryCodes } = await deps.secondFactors.find(userId)
    const passkeys = deps.passkeys.isOn ? await deps.passkeys.list(userId) : []
    const connections = await deps.oauth.listIdentities(userId, hasPassword)
    return {
      ways_in: {
        password: hasPassword,
        passkeys: passkeys.map(({ name, createdAtMs, lastUsedAtMs, isBackupEligible }) => ({
          name,
          added_at: toTimestamp(createdAtMs),
          last_used_at: timeOrNull(lastUsedAtMs),
          synced: isBackupEligible,
        })),
        authenticator_app: codes,
        recovery_codes_left: recoveryCodes,
      },
      connections: connections.map(({ provider, issuer, subject, email, createdAtMs }) => ({
        provider,
        issuer,
        subject,
        email: email ?? null,
        connected_at: toTimestamp(createdAtMs),
      })),
    }
  }

  const findDevices = async (session: AuthenticatedSession) => {
    const { sessions } = await deps.sessions.list(session.userId, MOST_SESSIONS, session)
    const browsers = await deps.knownBrowsers.list(session.userId)
    return {
      sessions: sessions.map(({ id, userAgent, address, createdAtMs, lastSeenAtMs }) => ({
        current: id === session.sessionId,
        user_agent: userAgent,
        address,
        logged_in_at: toTimestamp(createdAtMs),
        last_seen_at: toTimestamp(lastSeenAtMs),
      })),
      known_browsers: browsers.map(({ knownSinceMs, lastSeenAtMs, trustedUntilMs }) => ({
        known_since: toTimestamp(knownSinceMs),
        last_seen_at: toTimestamp(lastSeenAtMs),
        trusted_until: timeOrNull(trustedUntilMs),
      })),
    }
  }

  const findApplications = async (userId: string) => {
    if (!deps.hasClients) return undefined
    const { grants, registry } = await deps.loadClients()
    const found = (await grants.list(userId)).map(async (grant) => ({
      name: (await registry.show(grant.clientId))?.name ?? null,
      scopes: grant.scopes,
      resource: grant.resource ?? null,
      connected_at: toTimestamp(grant.createdAtMs),
      last_used_at: toTimestamp(grant.lastUsedAtMs),
    }))
    return Promise.all(found)
  }

  /** All but the records, of which there can be any number. */
  const findRest = async (session: AuthenticatedSession): Promise<object> => ({
    exported_at: toTimestamp(deps.clock.now()),
    account: await findAccount(session),
    ...(await findWaysIn(session.userId)),
    applications: await findApplications(session.userId),
    devices: await findDevices(session),
  })

  /** The latest record comes first. No transaction lasts as long as a slow client. */
  async function* parts(rest: object, userId: string): AsyncGenerator<string> {
    yield `${JSON.stringify(rest, undefined, 2).slice(0, -2)},\n  "activity": [`
    let separator = '\n'
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const { events, nextCursor } = await deps.audit.ownPage({ userId, limit: RECORDS_AT_ONCE, cursor })
      if (events.length > 0) yield separator + events.map((row) => `    ${recordJson(row)}`).join(',\n')
      separator = ',\n'
      cursor = nextCursor
    }
    yield '\n  ]\n}\n'
  }

  return async (session: AuthenticatedSession): Promise<HttpResponse> => ({
    status: 200,
    contentType: 'application/json',
    headers: ['content-disposition', 'attachment; filename="account-data.json"'],
    parts: parts(await findRest(session), session.userId),
  })
}
