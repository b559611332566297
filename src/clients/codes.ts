import { hash } from 'node:crypto'
import { randomToken } from '../lib/secrets.ts'
import type { Transaction } from '../storage/database.ts'
import { type AuthorizationCode, CODE_LIFETIME_MS, CODE_PREFIX } from './authorization-code.ts'
import { insertCode } from './code-store.ts'

export const hashOfCode = (code: string): string => hash('sha256', code, 'base64url')

/** Issues a code in the transaction that has locked the session; `nowMs` is by the clock of the rows. */
export const issueCode = async (
  transaction: Transaction,
  about: Omit<AuthorizationCode, 'expiresAtMs' | 'grantId' | 'usedAtMs'>,
  nowMs: number,
): Promise<string> => {
  const code = CODE_PREFIX + randomToken()
  const row = { ...about, expiresAtMs: nowMs + CODE_LIFETIME_MS, grantId: undefined, usedAtMs: undefined }
  await insertCode(transaction, hashOfCode(code), row)
  return code
}
