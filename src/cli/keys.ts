import type { Command } from 'commander'
import { toTimestamp } from '../lib/time.ts'
import { type Domain, withDomain } from './domain.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson, printList, toMinute } from './output.ts'
import type { Surroundings } from './surroundings.ts'
import type { Column } from './table.ts'

type Key = Awaited<ReturnType<Domain['keys']['list']>>[number]

/** `svc keys`: what signs the access tokens. */
export const addKeys = (program: Command, { loadConfig }: Surroundings): void => {
  const keys = addCommand(program, 'keys', 'list and rotate the keys that sign access tokens', [
    'svc keys list',
    'svc keys rotate',
  ])

  const list = addCommand(keys, 'list', 'list the keys, the one that signs first', [
    'svc keys list',
    'svc keys list --json',
  ])
  withJson(list).action(({ json }: JsonOption) =>
    withDomain(loadConfig(), async (domain) => {
      const listing = { columns: COLUMNS, toJson: keyToJson, empty: 'there are no keys yet: the first start makes one' }
      await printList([await domain.keys.list()], listing, json)
    }),
  )

  const rotate = addCommand(keys, 'rotate', 'sign with a new key from now on; nobody is logged out', [
    'svc keys rotate',
  ])
  withJson(rotate).action(({ json }: JsonOption) =>
    withDomain(loadConfig(), async (domain) => {
      // Fails when SVC_SECRET is not this database's: a key that was sealed with another could never be opened again.
      await domain.keys.prepare()
      const key = await domain.keys.rotate()
      await (json
        ? printJson(keyToJson(key))
        : print(`Key ${key.id} signs from now on. Tokens of the one before it stay good for their time.\n`))
    }),
  )
}

const stateOf = ({ retiredAtMs }: Key): string => (retiredAtMs === null ? 'signs' : 'retired')

const COLUMNS: Column<Key>[] = [
  { title: 'id', value: ({ id }) => id, least: 9 },
  { title: 'state', value: stateOf, tone: ({ retiredAtMs }) => (retiredAtMs === null ? 'green' : undefined) },
  { title: 'created (UTC)', value: ({ createdAtMs }) => toMinute(createdAtMs) },
  {
    title: 'retired (UTC)',
    value: ({ retiredAtMs }) => (retiredAtMs === null ? '' : toMinute(retiredAtMs)),
    optional: true,
  },
]

const keyToJson = (key: Key) => ({
  id: key.id,
  state: stateOf(key),
  created_at: toTimestamp(key.createdAtMs),
  retired_at: key.retiredAtMs === null ? null : toTimestamp(key.retiredAtMs),
})
