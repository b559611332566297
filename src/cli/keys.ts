import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson, printList, toMinute, toSecond } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { type Core, withCore } from './with-core.ts'

type Key = Awaited<ReturnType<Core['keys']['list']>>[number]

/** `svc keys`: what signs the access tokens. */
export const addKeys = (program: Command, { loadConfig }: CommandContext): void => {
  const keys = addCommand(program, 'keys', 'list and rotate the keys that sign access tokens', [
    'svc keys list',
    'svc keys rotate',
    'svc keys rotate --now',
  ])

  const list = addCommand(keys, 'list', 'list the keys, the newest first', ['svc keys list', 'svc keys list --json'])
  withJson(list).action(({ json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const listing = { columns: COLUMNS, toJson: keyToJson, empty: 'there are no keys yet: the first start makes one' }
      await printList([await core.keys.list()], listing, json)
    }),
  )

  const rotate = addCommand(keys, 'rotate', 'publish a new key, which soon signs; nobody is logged out', [
    'svc keys rotate',
    'svc keys rotate --now',
  ])
  rotate.option('--now', 'sign with it at once and refuse every key before it, for a key that is compromised')
  withJson(rotate).action(({ json, now = false }: JsonOption & { now?: boolean }) =>
    withCore(loadConfig(), async (core) => {
      // Fails when SVC_SECRET is not this database's: a key that was sealed with another could never be opened again.
      await core.keys.prepare()
      const key = await core.keys.rotate({ now })
      await (json
        ? printJson(keyToJson(key))
        : print(now ? replacedText(key, core.keys.jwksMaxAgeSeconds) : publishedText(key)))
    }),
  )
}

const publishedText = ({ id, signsAtMs, createdAtMs }: Key): string => `\
Key ${id} is published, and signs from ${toSecond(signsAtMs ?? createdAtMs)} UTC.
Until then the key before it signs: verifiers have the time to fetch the new one.
Nobody is logged out, and nothing has to be restarted.
`

const replacedText = ({ id }: Key, maxAgeSeconds: number): string => `\
Key ${id} signs from now on. Every key before it is revoked:
svc refuses the access tokens that they signed. Nobody is logged out, since browsers get a new one by a refresh.
Applications that verify tokens themselves accept the old keys until they fetch the keys again: ${maxAgeSeconds} s at most
where they heed the max-age of the JWK Set.
`

const TONES = { signs: 'green', published: 'yellow', retired: undefined } as const

const signsFromMs = ({ signsAtMs, createdAtMs }: Key): number => signsAtMs ?? createdAtMs

const signsUntilMs = ({ revokedAtMs, retiredAtMs }: Key): number | null => revokedAtMs ?? retiredAtMs

const textOf = (timeMs: number | null, format: (timeMs: number) => string): string =>
  timeMs === null ? '' : format(timeMs)

const COLUMNS: Column<Key>[] = [
  { title: 'id', value: ({ id }) => id, least: 9 },
  { title: 'state', value: ({ state }) => state, tone: ({ state }) => TONES[state] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'signs from (UTC)', value: (key) => toSecond(signsFromMs(key)) },
  { title: 'until (UTC)', value: (key) => textOf(signsUntilMs(key), toSecond), optional: true },
]

const timestampOf = (timeMs: number | null): string | null => (timeMs === null ? null : toTimestamp(timeMs))

const keyToJson = (key: Key) => ({
  id: key.id,
  state: key.state,
  created_at: toTimestamp(key.createdAtMs),
  signs_at: toTimestamp(signsFromMs(key)),
  retired_at: timestampOf(signsUntilMs(key)),
  revoked_at: timestampOf(key.revokedAtMs),
})
