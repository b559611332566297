import { request as httpRequest } from '../lib/node-http.ts'
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/time.ts'
import { type Database, inBatches } from '../storage/database.ts'
import { createDispatcher, type Dispatcher } from '../storage/outbox/dispatcher.ts'
import {
  deleteLogoutToken,
  deleteLogoutTokensBefore,
  findDueLogoutTokens,
  type LogoutToken,
  claimLogoutToken,
  postponeLogoutToken,
} from './logout-store.ts'
import type { ClientTokens } from './tokens.ts'

/** So many are sent at the same time. A client that does not answer holds one place for as long as the time limit. */
const AT_ONCE = 8
const TIMEOUT_MS = 5000
/** By this time after the time limit, the process of an attempt has stored its result, or is dead. */
const CLAIM_MARGIN_MS = 5000
const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 3_600_000
const DAY_MS = 86_400_000

const retryDelayMs = (attempts: number): number =>
  Math.round(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempts) * (0.75 + Math.random() / 2))

interface LogoutSenderDeps {
  db: Database
  clock: Clock
  log: Log
  tokens: Pick<ClientTokens, 'signLogout'>
}

/**
 * Sends logout tokens to clients (OpenID Connect Back-Channel Logout 1.0), for a day, and each with the same `jti`. They
 * have an outbox of their own: no webhook waits for a client that does not answer.
 */
export const createLogoutSender = ({
  db,
  clock,
  log,
  tokens,
}: LogoutSenderDeps): Dispatcher & { deleteOld: (nowMs: number) => Promise<number> } => {
  const attempt = async (row: LogoutToken, signal: AbortSignal): Promise<void> => {
    if ((await claimLogoutToken(db, row, clock.now() + TIMEOUT_MS + CLAIM_MARGIN_MS)) === 0) return
    const { id: jti, clientId, userId, grantId, uri } = row
    const token = await tokens.signLogout({ jti, clientId, userId, grantId })
    const problem = await post(uri, token, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]))
    const facts = { client_id: clientId, user_id: userId, grant_id: grantId, attempt: row.attempts + 1 }
    if (problem === undefined) {
      log.info(facts, 'logout token delivered')
      await deleteLogoutToken(db, jti)
      return
    }
    log.warn({ ...facts, problem }, 'logout token was not accepted')
    await postponeLogoutToken(db, jti, clock.now() + retryDelayMs(row.attempts))
  }

  const handle = async (row: LogoutToken, signal: AbortSignal): Promise<boolean> => {
    try {
      await (row.createdAtMs + DAY_MS > clock.now() ? attempt(row, signal) : deleteLogoutToken(db, row.id))
      return true
    } catch (error) {
      log.error({ err: error, client_id: row.clientId }, 'logout bookkeeping failed')
      return false
    }
  }

  return {
    ...createDispatcher({
      name: 'logout',
      log,
      atOnce: AT_ONCE,
      findDue: (limit) => findDueLogoutTokens(db, clock.now(), limit),
      beginTurn: async (signal) => ({ handle: (row) => handle(row, signal) }),
    }),
    deleteOld: (nowMs) => inBatches((limit) => deleteLogoutTokensBefore(db, nowMs - DAY_MS, limit)),
  }
}

/** Resolves to what went wrong, or to undefined if the client has accepted the token. Redirects are not followed. */
const post = (uri: string, token: string, signal: AbortSignal): Promise<string | undefined> =>
  new Promise((resolve) => {
    const body = `logout_token=${token}`
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) }
    const send = uri.startsWith('https:') ? process.getBuiltinModule('node:https').request : httpRequest
    const outgoing = send(uri, { method: 'POST', headers, agent: false, signal })
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    outgoing.on('close', () => resolve('the connection was closed'))
    outgoing.on('response', ({ statusCode = 0 }) => {
      resolve(statusCode >= 200 && statusCode < 300 ? undefined : `answered ${statusCode}`)
      // Nothing of the body counts.
      outgoing.destroy()
    })
    outgoing.end(body)
  })
