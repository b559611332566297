import { toTimestamp } from '../lib/time.ts'
import type { KeySummary } from '../sessions/sessions.ts'
import { command, group, option } from './command/command.ts'
import type { Column } from './terminal/table.ts'
import { timestampOrNull, toMinute, toSecond } from './terminal/text.ts'

const TONES = { signs: 'green', published: 'yellow', retired: undefined } as const

const signsFromMs = ({ signsAtMs, createdAtMs }: KeySummary): number => signsAtMs ?? createdAtMs

const signsUntilMs = ({ revokedAtMs, retiredAtMs }: KeySummary): number | null => revokedAtMs ?? retiredAtMs

const untilText = (key: KeySummary): string => {
  const untilMs = signsUntilMs(key)
  return untilMs === null ? '' : toSecond(untilMs)
}

const COLUMNS: Column<KeySummary>[] = [
  { title: 'id', value: ({ id }) => id, minWidth: 9 },
  { title: 'state', value: ({ state }) => state, tone: ({ state }) => TONES[state] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'signs from (UTC)', value: (key) => toSecond(signsFromMs(key)) },
  { title: 'until (UTC)', value: untilText, optional: true },
]

const toJson = (key: KeySummary) => ({
  id: key.id,
  state: key.state,
  created_at: toTimestamp(key.createdAtMs),
  signs_at: toTimestamp(signsFromMs(key)),
  retired_at: timestampOrNull(signsUntilMs(key)),
  revoked_at: timestampOrNull(key.revokedAtMs),
})

const list = command({
  text: 'list the keys, the newest first',
  examples: ['svc keys list', 'svc keys list --json'],
  run: (call) =>
    call.withCore(async ({ core }) => {
      const empty = 'there are no keys yet: the first start creates one'
      await call.list([await core.signingKeys.list()], { columns: COLUMNS, toJson, empty })
    }),
})

const rotate = command({
  text: 'publish a new key, which signs soon after; nobody is logged out',
  examples: ['svc keys rotate', 'svc keys rotate --now'],
  options: {
    now: option.flag('--now', 'sign with the new key at once and revoke all earlier keys, for a compromised key'),
  },
  run: (call) =>
    call.withCore(async ({ core: { signingKeys } }) => {
      const { now = false } = call.options
      // This fails if SVC_SECRET is not the secret of this database: the service could never decrypt a key sealed with it.
      await signingKeys.prepare()
      const key = await signingKeys.rotate({ now })
      await call.result(toJson(key), now ? replacedText(key, signingKeys.jwksMaxAgeSeconds) : publishedText(key))
    }),
})

const publishedText = (key: KeySummary): string => `\
Key ${key.id} is published, and signs from ${toSecond(signsFromMs(key))} UTC.
Until then the previous key signs, so that verifiers have time to fetch the new one.
Nobody is logged out, and nothing needs a restart.`

const replacedText = ({ id }: KeySummary, maxAgeSeconds: number): string => `\
Key ${id} signs from now on. All earlier keys are revoked:
svc refuses the access tokens that they signed. Nobody is logged out, since browsers get a new token with a refresh.
Applications that verify tokens themselves accept the old keys until they fetch the keys again: ${maxAgeSeconds} s at most
if they respect the max-age of the JWK Set.`

export const keys = group({
  text: 'list and rotate the keys that sign access tokens',
  examples: ['svc keys list', 'svc keys rotate', 'svc keys rotate --now'],
  commands: { list, rotate },
})
