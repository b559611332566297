import type { Command } from 'commander'
import type { KeySummary } from '../sessions/sessions.ts'
import { addCommand, type JsonOption, withJson } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { keyToJson, signsFromMs } from './keys-list.ts'
import { print, printJson, toSecond } from './terminal/output.ts'
import { withCore } from './with-core.ts'

interface RotateOptions extends JsonOption {
  now?: boolean
}

/** `svc keys rotate` */
export const addKeysRotate = (keys: Command, { loadConfig }: CommandContext): void => {
  const rotate = addCommand(keys, 'rotate', 'publish a new key, which signs soon after; nobody is logged out', [
    'svc keys rotate',
    'svc keys rotate --now',
  ])
  rotate.option('--now', 'sign with the new key at once and revoke all earlier keys, for a compromised key')
  withJson(rotate).action(({ json, now = false }: RotateOptions) =>
    withCore(loadConfig(), async (core) => {
      // Fails if SVC_SECRET is not the secret of this database: the service could never decrypt a key sealed with it.
      await core.signingKeys.prepare()
      const key = await core.signingKeys.rotate({ now })
      await (json
        ? printJson(keyToJson(key))
        : print(now ? replacedText(key, core.signingKeys.jwksMaxAgeSeconds) : publishedText(key)))
    }),
  )
}

const publishedText = (key: KeySummary): string => `\
Key ${key.id} is published, and signs from ${toSecond(signsFromMs(key))} UTC.
Until then the previous key signs, so that verifiers have time to fetch the new one.
Nobody is logged out, and nothing needs a restart.
`

const replacedText = ({ id }: KeySummary, maxAgeSeconds: number): string => `\
Key ${id} signs from now on. All earlier keys are revoked:
svc refuses the access tokens that they signed. Nobody is logged out, since browsers get a new token with a refresh.
Applications that verify tokens themselves accept the old keys until they fetch the keys again: ${maxAgeSeconds} s at most
if they respect the max-age of the JWK Set.
`
