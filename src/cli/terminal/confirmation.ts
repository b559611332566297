import type { Command } from 'commander'

export interface YesOption {
  yes?: boolean
}

/** The option of a command that asks before it does what cannot be undone. */
export const withYes = (command: Command): Command =>
  command.option('--yes', 'do not ask; needed where there is no terminal')

/** Wrong usage where there is neither `--yes` nor a terminal to ask on. */
export const requireConfirmable = (command: Command, yes: boolean | undefined): void => {
  if (!yes && !process.stdin.isTTY) command.error('error: there is no terminal to ask on: give --yes')
}

/** Asks on the terminal; everything but yes is no. */
export const confirms = async (question: string): Promise<boolean> => {
  const { withPrompt } = await import('./prompt.ts')
  const answer = await withPrompt((prompt) => prompt.ask(`${question} [y/N] `))
  return /^y(?:es)?$/i.test(answer.trim())
}
