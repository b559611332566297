import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { toTimestamp } from '../lib/time.ts'
import type { SecretStatus } from '../sessions/sessions.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { printJson, printRecord, toMinute } from './terminal/output.ts'
import { withCore } from './with-core.ts'

/** The files or the settings that hold the root secret. */
export interface SecretLocations {
  current: string
  previous: string
}

/** `svc secret status` */
export const addSecretStatus = (secret: Command, { loadConfig }: CommandContext): void => {
  const command = addCommand(secret, 'status', 'show whether the previous root secret is still needed', [
    'svc secret status',
  ])
  withJson(command).action(({ json }: JsonOption) => {
    const config = loadConfig()
    return withCore(config, async ({ secretRotation }) => {
      const [locations, status] = [await findSecretLocations(config), await secretRotation.status()]
      await (json ? printJson(statusToJson(locations, status)) : printRecord(toRecord(locations, status)))
    })
  })
}

export const findSecretLocations = async ({ secret, database }: Config): Promise<SecretLocations> => {
  if (secret !== undefined || database.kind !== 'sqlite') {
    return { current: 'SVC_SECRET', previous: 'SVC_SECRET_PREVIOUS' }
  }
  const { previousSecretFile, rootSecretFile } = await import('../config/root-secret.ts')
  const file = resolve(database.file)
  return { current: rootSecretFile(file), previous: previousSecretFile(file) }
}

const toRecord = ({ current, previous }: SecretLocations, status: SecretStatus): [string, string][] => [
  ['secret', current],
  ['previous', status.hasPrevious ? previous : 'none'],
  ['rotated (UTC)', status.rotatedAtMs === undefined ? 'never' : toMinute(status.rotatedAtMs)],
  ['previous needed', status.hasPrevious ? neededText(status) : 'no'],
]

const neededText = (status: SecretStatus): string =>
  neededBy(status).join('; ') || 'by no session and no authenticator app: it can be removed'

const neededBy = ({ sessions, neededUntilMs, apps }: SecretStatus): string[] => [
  ...(apps === 0
    ? []
    : [`by ${apps === 1 ? 'one authenticator app' : `${apps} authenticator apps`}, until a service starts`]),
  ...(neededUntilMs === undefined
    ? []
    : [
        `by ${sessions === 1 ? 'one session' : `up to ${sessions} sessions`}, until ${toMinute(neededUntilMs)} UTC at most`,
      ]),
]

export const statusToJson = ({ current, previous }: SecretLocations, status: SecretStatus) => ({
  secret: current,
  previous: status.hasPrevious ? previous : null,
  rotated_at: timestampOf(status.rotatedAtMs),
  sessions: status.sessions,
  needed_until: timestampOf(status.neededUntilMs),
  authenticator_apps: status.apps,
})

const timestampOf = (timeMs: number | undefined): string | null => (timeMs === undefined ? null : toTimestamp(timeMs))
