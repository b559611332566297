import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import type { KeySummary } from '../sessions/sessions.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printList, toMinute, toSecond } from './terminal/output.ts'
import type { Column } from './terminal/table.ts'
import { withCore } from './with-core.ts'

/** `svc keys list` */
export const addKeysList = (keys: Command, { loadConfig }: CommandContext): void => {
  const list = addCommand(keys, 'list', 'list the keys, the newest first', ['svc keys list', 'svc keys list --json'])
  withJson(list).action(({ json }: JsonOption) =>
    withCore(loadConfig(), async (core) => {
      const listing = {
        columns: COLUMNS,
        toJson: keyToJson,
        empty: 'there are no keys yet: the first start creates one',
      }
      await printList([await core.signingKeys.list()], listing, json)
    }),
  )
}

const TONES = { signs: 'green', published: 'yellow', retired: undefined } as const

export const signsFromMs = ({ signsAtMs, createdAtMs }: KeySummary): number => signsAtMs ?? createdAtMs

const signsUntilMs = ({ revokedAtMs, retiredAtMs }: KeySummary): number | null => revokedAtMs ?? retiredAtMs

const textOf = (timeMs: number | null, format: (timeMs: number) => string): string =>
  timeMs === null ? '' : format(timeMs)

const COLUMNS: Column<KeySummary>[] = [
  { title: 'id', value: ({ id }) => id, minWidth: 9 },
  { title: 'state', value: ({ state }) => state, tone: ({ state }) => TONES[state] },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  { title: 'signs from (UTC)', value: (key) => toSecond(signsFromMs(key)) },
  { title: 'until (UTC)', value: (key) => textOf(signsUntilMs(key), toSecond), optional: true },
]

const timestampOf = (timeMs: number | null): string | null => (timeMs === null ? null : toTimestamp(timeMs))

export const keyToJson = (key: KeySummary) => ({
  id: key.id,
  state: key.state,
  created_at: toTimestamp(key.createdAtMs),
  signs_at: toTimestamp(signsFromMs(key)),
  retired_at: timestampOf(signsUntilMs(key)),
  revoked_at: timestampOf(key.revokedAtMs),
})
