import type { Command } from 'commander'

/** Adds a command to its parent, with a one-line description and examples. */
export const addCommand = (parent: Command, usage: string, description: string, examples: string[]): Command => {
  const command = parent.command(usage).description(description)
  return command
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`)
    .showHelpAfterError(`Try: ${fullName(command)} --help`)
}

const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()

/** Adds `--json`, which every command that prints a result has. */
export const withJson = (command: Command): Command => command.option('--json', 'print JSON')

export interface JsonOption {
  json?: boolean
}
