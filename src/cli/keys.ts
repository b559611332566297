import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { addKeysList } from './keys-list.ts'
import { addKeysRotate } from './keys-rotate.ts'

/** `svc keys`: the commands about the keys that sign access tokens. */
export const addKeys = (program: Command, context: CommandContext): void => {
  const keys = addCommand(program, 'keys', 'list and rotate the keys that sign access tokens', [
    'svc keys list',
    'svc keys rotate',
    'svc keys rotate --now',
  ])
  addKeysList(keys, context)
  addKeysRotate(keys, context)
}
