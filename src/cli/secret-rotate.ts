import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { AppError } from '../lib/errors.ts'
import type { SecretStatus } from '../sessions/sessions.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { findSecretLocations, type SecretLocations, statusToJson } from './secret-status.ts'
import { print, printJson, toMinute } from './terminal/output.ts'
import { withCore } from './with-core.ts'

interface RotateOptions extends JsonOption {
  force?: boolean
}

/** `svc secret rotate` */
export const addSecretRotate = (secret: Command, { loadConfig }: CommandContext): void => {
  const rotate = addCommand(secret, 'rotate', 'create a new root secret and keep the old one as the previous one', [
    'svc secret rotate',
  ])
  rotate.option('--force', 'rotate even if sessions still need the previous secret, which logs them out')
  withJson(rotate).action(async ({ json, force = false }: RotateOptions) => {
    const config = loadConfig()
    const databaseFile = requireSecretInFile(config)
    const { rotateSecretFile } = await import('../config/root-secret.ts')
    return withCore(config, async ({ secretRotation }) => {
      const status = await secretRotation.rotate(() => rotateSecretFile(databaseFile), { isForced: force })
      const locations = await findSecretLocations(config)
      await (json ? printJson(statusToJson(locations, status)) : print(rotatedText(locations, status)))
    })
  })
}

/** The database file beside the secret. Throws `conflict` with instructions when the secret comes from `SVC_SECRET`. */
const requireSecretInFile = ({ secret, database }: Config): string => {
  if (secret === undefined && database.kind === 'sqlite') return resolve(database.file)
  throw new AppError('conflict', ROTATE_BY_HAND)
}

const ROTATE_BY_HAND = `the root secret comes from SVC_SECRET, which only you can change. Nobody is logged out if you follow these steps:
  1. Create a new secret: openssl rand -hex 32
  2. With several replicas: keep SVC_SECRET, set SVC_SECRET_PREVIOUS to the new secret, and restart them one after the other.
  3. Set SVC_SECRET to the new secret and SVC_SECRET_PREVIOUS to the old one, and restart them one after the other.
  4. When svc secret status says that no session and no authenticator app needs the old one, remove SVC_SECRET_PREVIOUS
     and restart.`

const rotatedText = ({ current, previous }: SecretLocations, { sessions, neededUntilMs }: SecretStatus): string => `\
${current} contains a new root secret, and ${previous} the previous one.
Running services load it within seconds, and nobody is logged out.
${
  neededUntilMs === undefined
    ? 'No session needs the previous one. Sign-ins with a provider that are under way need it for ten minutes.'
    : `${needText(sessions)} the previous one until the next refresh: keep it until ${toMinute(neededUntilMs)} UTC, or until
svc secret status says that no session needs it.`
}
Back up the new secret, in another place than the database: backups need it from now on.
`

const needText = (sessions: number): string => (sessions === 1 ? '1 session needs' : `${sessions} sessions need`)
