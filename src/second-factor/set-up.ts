import { randomBytes } from 'node:crypto'
import { encode } from 'uqr'
import type { Caller } from '../lib/caller.ts'
import { AppError } from '../lib/errors.ts'
import { createSealedTokens } from '../lib/sealed-token.ts'
import type { Transaction } from '../storage/database.ts'
import { updateUpdatedAt } from '../accounts/user-store.ts'
import type { FactorDeps } from './factor-deps.ts'
import { readTypedCode } from '../lib/typed-code.ts'
import { findStep, SECRET_BYTES, toAppSecret } from './one-time-code.ts'
import { type CodeSetUp, findSetUp, insertSetUp, replaceSetUp } from './one-time-code-store.ts'
import { factorChanged, type PreparedRecoveryCodes } from './recovery-code-sets.ts'
import type { SecretSealing } from './secret-sealing.ts'

const TEN_MINUTES_MS = 600_000

/** An app is set up for this user, and is bound to the id of their session or of their pending sign-in. */
export interface SetUpOwner {
  userId: string
  boundTo: string
}

/** A user needs these to set up an app. Nothing is stored before its first right code. */
export interface OfferedSetUp {
  /** The secret is in Base32. */
  secret: string
  /** The address begins with `otpauth://totp/`; a tap on the phone itself opens it. */
  uri: string
  /** The QR code has rows of modules, true for the dark ones, with the light margin that scanners need. */
  qrCode: boolean[][]
  /** It comes back with the first code, within ten minutes. */
  sealed: string
}

/** The user has entered a right first code. */
export interface CheckedSetUp {
  /** These are new codes to show once; it is undefined if the account has some already. */
  recoveryCodes: string[] | undefined
  /**
   * Stores the app in the transaction that permits it, which has locked the user, and ends what the table of events
   * says. It throws `conflict` when the second factor has changed since.
   */
  apply(transaction: Transaction, own: { sessionId?: string | undefined }): Promise<void>
}

interface SealedSetUp {
  userId: string
  /** The secret is in base64url. */
  secret: string
  /** This app replaces the one that was set up at this time. */
  replaces?: number | undefined
}

interface SetUpDeps
  extends Pick<
    FactorDeps,
    'appName' | 'applySecurityEvent' | 'clock' | 'db' | 'notify' | 'recordEvent' | 'rootSecret'
  > {
  sealing: SecretSealing
  prepareFirst: (userId: string, caller?: Caller) => Promise<PreparedRecoveryCodes | undefined>
}

export const createSetUp = (deps: SetUpDeps) => {
  const { db, clock, rootSecret, sealing, appName, prepareFirst, applySecurityEvent, notify, recordEvent } = deps
  const tokens = createSealedTokens<SealedSetUp>({
    rootSecret,
    clock,
    purpose: 'set-up of one-time codes',
    lifetimeMs: TEN_MINUTES_MS,
  })

  const view = (secret: Uint8Array, account: string, sealed: string): OfferedSetUp => {
    const { text, uri } = toAppSecret(secret, { issuer: appName, account })
    return { secret: text, uri, qrCode: encode(uri, { ecc: 'M', border: 4 }).data, sealed }
  }

  const openOwn = (sealed: string | undefined, { userId, boundTo }: SetUpOwner): SealedSetUp | undefined => {
    const opened = tokens.open(sealed, boundTo)
    return opened && !opened.problem && opened.content.userId === userId ? opened.content : undefined
  }

  return {
    async beginSetUp(owner: SetUpOwner, account: string): Promise<OfferedSetUp> {
      const { userId, boundTo } = owner
      const secret = randomBytes(SECRET_BYTES)
      const replaces = (await findSetUp(db, userId))?.createdAtMs
      return view(secret, account, tokens.seal({ userId, secret: secret.toString('base64url'), replaces }, boundTo))
    },

    continueSetUp(owner: SetUpOwner, account: string, sealed: string | undefined): OfferedSetUp | undefined {
      const own = openOwn(sealed, owner)
      return own && sealed ? view(Buffer.from(own.secret, 'base64url'), account, sealed) : undefined
    },

    async checkSetUp(
      owner: SetUpOwner,
      { sealed, code }: { sealed: string | undefined; code: string },
      caller?: Caller,
    ): Promise<CheckedSetUp> {
      const { userId } = owner
      const own = openOwn(sealed, owner)
      if (!own) throw setUpExpired()
      const typed = readTypedCode(code)
      const secret = Buffer.from(own.secret, 'base64url')
      const nowMs = clock.now()
      const lastUsedStep = findStep(secret, { code: typed, nowMs, lastUsedStep: 0 })
      if (lastUsedStep === undefined) throw firstCodeWrong()
      const recoveryCodes = await prepareFirst(userId, caller)
      const secretSealed = sealing.seal(secret, userId)
      return {
        recoveryCodes: recoveryCodes?.codes,
        async apply(transaction, { sessionId }) {
          await store(transaction, { userId, secretSealed, createdAtMs: nowMs, lastUsedStep }, own.replaces)
          await updateUpdatedAt(transaction, userId, nowMs)
          if (recoveryCodes && !(await recoveryCodes.insert(transaction))) throw factorChanged()
          await recordEvent(transaction, { type: 'second_factor.added', userId, sessionId }, caller)
          const event = own.replaces === undefined ? 'first_app_set_up' : 'sign_in_method_changed'
          await applySecurityEvent(transaction, event, { userId, sessionId, caller })
          await notify(transaction, userId, { kind: 'second_factor_set_up', setUpAtMs: nowMs }, caller)
        },
      }
    },
  }
}

const store = async (transaction: Transaction, setUp: CodeSetUp, replaces: number | undefined): Promise<void> => {
  const stored = replaces === undefined ? insertSetUp(transaction, setUp) : replaceSetUp(transaction, setUp, replaces)
  if ((await stored) === 0) throw factorChanged()
}

const setUpExpired = (): AppError =>
  new AppError('gone', 'This set-up is older than ten minutes, or belongs to another sign-in. Scan the new QR code.', {
    field: 'code',
    reason: 'set_up_expired',
  })

const firstCodeWrong = (): AppError =>
  new AppError('unauthorized', 'This code is wrong.', { field: 'code', reason: 'first_code_wrong' })
