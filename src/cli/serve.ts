import type { Command } from 'commander'
import { addCommand } from './command.ts'
import type { CommandContext } from './command-context.ts'

/** `svc serve`, which the folder serve/ implements. */
export const addServe = (program: Command, { serve }: CommandContext): void => {
  addCommand(program, 'serve', 'run the service', [
    'svc serve',
    'SVC_PORT=3000 SVC_BASE_URL=https://example.com svc serve',
  ]).action(serve)
}
