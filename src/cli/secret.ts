import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { addSecretRotate } from './secret-rotate.ts'
import { addSecretStatus } from './secret-status.ts'

/** `svc secret`: the commands about the root secret. */
export const addSecret = (program: Command, context: CommandContext): void => {
  const secret = addCommand(program, 'secret', 'show and rotate the root secret', [
    'svc secret status',
    'svc secret rotate',
  ])
  addSecretStatus(secret, context)
  addSecretRotate(secret, context)
}
