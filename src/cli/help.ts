import type { Command } from 'commander'
import { addCommand } from './command.ts'

/** `svc help`. The library's own `help` command accepts one name only, so that `svc help users create` would fail. */
export const addHelp = (program: Command): void => {
  const help = addCommand(program, 'help [command...]', 'show help for a command', ['svc help users create'])
  help.action((names: string[]) => names.reduce(requireCommand, program).help())
}

const requireCommand = (parent: Command, name: string): Command =>
  parent.commands.find((command) => command.name() === name) ?? parent.error(`error: unknown command '${name}'`)
