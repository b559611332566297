import type { Command } from 'commander'
import { escapeControls } from '../../lib/control-characters.ts'

export interface YesOption {
  yes?: boolean
}

/** Adds `--yes` to a command that asks before a change that cannot be undone. */
export const withYes = (command: Command): Command =>
  command.option('--yes', 'do not ask for confirmation; required without a terminal')

/** Ends the command with a usage error when there is neither `--yes` nor a terminal to ask on. */
export const requireTerminalOrYes = (command: Command, yes: boolean | undefined): void => {
  if (!yes && !process.stdin.isTTY) command.error('error: there is no terminal for the confirmation: give --yes')
}

/** Asks a yes-or-no question on the terminal. Every answer but yes means no. */
export const confirm = async (question: string): Promise<boolean> => {
  const { withPrompt } = await import('./prompt.ts')
  const answer = await withPrompt((prompt) => prompt.ask(`${escapeControls(question)} [y/N] `))
  return /^y(?:es)?$/i.test(answer.trim())
}
