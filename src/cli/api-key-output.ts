import type { ApiKey } from '../api-keys/api-keys.ts'
import { toTimestamp } from '../lib/time.ts'

type State = 'live' | 'expired' | 'revoked'

export const stateOfKey = ({ revokedAtMs, expiresAtMs }: ApiKey, nowMs: number): State => {
  if (revokedAtMs !== undefined) return 'revoked'
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'live'
}

const timestampOrNull = (timeMs: number | undefined): string | null =>
  timeMs === undefined ? null : toTimestamp(timeMs)

export const apiKeyToJson = (key: ApiKey, nowMs: number) => ({
  id: key.id,
  name: key.name,
  scopes: key.scopes,
  state: stateOfKey(key, nowMs),
  created_at: toTimestamp(key.createdAtMs),
  expires_at: timestampOrNull(key.expiresAtMs),
  revoked_at: timestampOrNull(key.revokedAtMs),
  last_used_at: timestampOrNull(key.lastUsedAtMs),
})
