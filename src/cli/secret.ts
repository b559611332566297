import type { Config } from '../config/config.ts'
import { rotateSecretFile, secretFilesOf } from '../config/root-secret.ts'
import { AppError } from '../lib/errors.ts'
import type { SecretStatus } from '../sessions/sessions.ts'
import { command, group, option } from './command/command.ts'
import { printJson, printRecord } from './terminal/output.ts'
import { countText, timestampOrNull, toMinute } from './terminal/text.ts'

const locationsOf = (config: Config): SecretLocations =>
  secretFilesOf(config) ?? { current: 'SVC_SECRET', previous: 'SVC_SECRET_PREVIOUS' }

interface SecretLocations {
  current: string
  previous: string
}

const toJson = ({ current, previous }: SecretLocations, { hasPrevious, ...found }: SecretStatus) => ({
  secret: current,
  previous: hasPrevious ? previous : null,
  rotated_at: timestampOrNull(found.rotatedAtMs),
  sessions: found.sessions,
  needed_until: timestampOrNull(found.neededUntilMs),
  authenticator_apps: found.apps,
})

const status = command({
  text: 'show whether the previous root secret is still needed',
  examples: ['svc secret status'],
  run: ({ json, withCore }) =>
    withCore(async ({ core, config }) => {
      const [locations, found] = [locationsOf(config), await core.secretRotation.status()]
      await (json ? printJson(toJson(locations, found)) : printRecord(toRecord(locations, found)))
    }),
})

const toRecord = ({ current, previous }: SecretLocations, found: SecretStatus): [string, string][] => [
  ['secret', current],
  ['previous', found.hasPrevious ? previous : 'none'],
  ['rotated (UTC)', found.rotatedAtMs === undefined ? 'never' : toMinute(found.rotatedAtMs)],
  ['previous needed', found.hasPrevious ? neededText(found) : 'no'],
]

const neededText = ({ sessions, neededUntilMs, apps }: SecretStatus): string => {
  const needs: string[] = []
  if (apps > 0)
    needs.push(`by ${apps === 1 ? 'one' : apps} authenticator app${apps === 1 ? '' : 's'}, until a service starts`)
  if (neededUntilMs !== undefined) {
    const who = sessions === 1 ? 'one session' : `up to ${sessions} sessions`
    needs.push(`by ${who}, until ${toMinute(neededUntilMs)} UTC at most`)
  }
  return needs.join('; ') || 'by no session and no authenticator app: it can be removed'
}

const rotate = command({
  text: 'create a new root secret and keep the old one as the previous one',
  examples: ['svc secret rotate'],
  options: {
    force: option.flag('--force', 'rotate even if sessions still need the previous secret, which logs them out'),
  },
  async run({ options: { force = false }, loadConfig, withCore, result }) {
    const config = loadConfig()
    const files = secretFilesOf(config)
    if (!files) throw new AppError('conflict', ROTATE_BY_HAND)
    await withCore(async ({ core }) => {
      const rotated = await core.secretRotation.rotate(() => rotateSecretFile(files.database), { isForced: force })
      await result(toJson(files, rotated), rotatedText(files, rotated))
    }, config)
  },
})

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
    : `${countText(sessions, 'session')} ${sessions === 1 ? 'needs' : 'need'} the previous one until the next refresh: keep it until ${toMinute(neededUntilMs)} UTC, or until
svc secret status says that no session needs it.`
}
Back up the new secret, in another place than the database: backups need it from now on.`

export const secret = group({
  text: 'show and rotate the root secret',
  examples: ['svc secret status', 'svc secret rotate'],
  commands: { status, rotate },
})
