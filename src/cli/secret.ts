import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import { toTimestamp } from '../lib/time.ts'
import type { CommandContext } from './command-context.ts'
import { addCommand, type JsonOption, withJson } from './help.ts'
import { print, printJson, printRecord, toMinute } from './terminal/output.ts'
import { type Core, withCore } from './with-core.ts'

type Status = Awaited<ReturnType<Core['secretRotation']['status']>>

interface Places {
  current: string
  previous: string
}

/** `svc secret`: what keys and tokens are derived from. */
export const addSecret = (program: Command, { loadConfig }: CommandContext): void => {
  const secret = addCommand(program, 'secret', 'show and rotate the root secret', [
    'svc secret status',
    'svc secret rotate',
  ])

  const status = addCommand(secret, 'status', 'show whether the previous root secret is still needed', [
    'svc secret status',
  ])
  withJson(status).action(({ json }: JsonOption) => {
    const config = loadConfig()
    return withCore(config, async ({ secretRotation }) => {
      const [places, found] = [await placesOf(config), await secretRotation.status()]
      await (json ? printJson(toJson(places, found)) : printRecord(toRecord(places, found)))
    })
  })

  const rotate = addCommand(secret, 'rotate', 'make a new root secret and keep the old one beside it', [
    'svc secret rotate',
  ])
  rotate.option('--force', 'also when sessions need the secret before the current one: they are logged out')
  withJson(rotate).action(async ({ json, force = false }: JsonOption & { force?: boolean }) => {
    const config = loadConfig()
    const file = requireSecretFile(config)
    const { rotateSecretFile } = await import('../config/root-secret.ts')
    return withCore(config, async ({ secretRotation }) => {
      const found = await secretRotation.rotate(() => rotateSecretFile(file), { isForced: force })
      const places = await placesOf(config)
      await (json ? printJson(toJson(places, found)) : print(rotatedText(places, found)))
    })
  })
}

/** The database that the secret lies beside; `conflict`, with what to do, where it comes from the settings. */
const requireSecretFile = ({ secret, database }: Config): string => {
  if (secret === undefined && database.kind === 'sqlite') return resolve(database.file)
  throw new AppError('conflict', BY_SETTINGS)
}

const BY_SETTINGS = `the root secret comes from SVC_SECRET, which only you can change. Nobody is logged out if you do it so:
  1. Make a new secret: openssl rand -hex 32
  2. With several replicas: keep SVC_SECRET, set SVC_SECRET_PREVIOUS to the new secret, and restart one after the other.
  3. Set SVC_SECRET to the new secret and SVC_SECRET_PREVIOUS to the old one, and restart one after the other.
  4. When svc secret status says that no session needs the old one, remove SVC_SECRET_PREVIOUS and restart.`

const placesOf = async ({ secret, database }: Config): Promise<Places> => {
  if (secret !== undefined || database.kind !== 'sqlite') {
    return { current: 'SVC_SECRET', previous: 'SVC_SECRET_PREVIOUS' }
  }
  const { previousSecretFile, rootSecretFile } = await import('../config/root-secret.ts')
  const file = resolve(database.file)
  return { current: rootSecretFile(file), previous: previousSecretFile(file) }
}

const rotatedText = ({ current, previous }: Places, { sessions, neededUntilMs }: Status): string => `\
${current} holds a new root secret, and ${previous} the one before it.
Running services take it over within seconds, and nobody is logged out.
${
  neededUntilMs === undefined
    ? 'No session needs the previous one. Sign-ins by a provider that are under way do, for ten minutes.'
    : `${countOf(sessions)} the previous one until the next refresh: keep it until ${toMinute(neededUntilMs)} UTC, or until
svc secret status says that no session needs it.`
}
Keep a copy of the new secret, apart from the backups of the database: they need it from now on.
`

const countOf = (sessions: number): string => (sessions === 1 ? '1 session needs' : `${sessions} sessions need`)

const toRecord = ({ current, previous }: Places, status: Status): [string, string][] => [
  ['secret', current],
  ['previous', status.hasPrevious ? previous : 'none'],
  ['rotated (UTC)', status.rotatedAtMs === undefined ? 'never' : toMinute(status.rotatedAtMs)],
  ['previous needed', status.hasPrevious ? neededText(status) : 'no'],
]

const neededText = ({ sessions, neededUntilMs }: Status): string =>
  neededUntilMs === undefined
    ? 'by no session: it can be removed'
    : `by ${sessions === 1 ? 'one session' : `up to ${sessions} sessions`}, until ${toMinute(neededUntilMs)} UTC at most`

const toJson = ({ current, previous }: Places, status: Status) => ({
  secret: current,
  previous: status.hasPrevious ? previous : null,
  rotated_at: timestampOf(status.rotatedAtMs),
  sessions: status.sessions,
  needed_until: timestampOf(status.neededUntilMs),
})

const timestampOf = (timeMs: number | undefined): string | null => (timeMs === undefined ? null : toTimestamp(timeMs))
