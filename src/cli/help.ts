import type { Command } from 'commander'

/** Adds a command to a group, with a line of what it does and examples of its use. */
export const addCommand = (parent: Command, usage: string, description: string, examples: string[]): Command => {
  const command = parent.command(usage).description(description)
  return command
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`)
    .showHelpAfterError(`Try: ${pathOf(command)} --help`)
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()

/** The option of every command that prints something. */
export const withJson = (command: Command): Command => command.option('--json', 'print JSON')

export interface JsonOption {
  json?: boolean
}
