import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { escapeControls } from '../../lib/control-characters.ts'
import { AppError } from '../../lib/errors.ts'

/** The operator pressed Ctrl+C or Ctrl+D instead of answering a question. */
export class Interrupted extends Error {}

interface Terminal {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}

interface Prompt {
  ask(question: string): Promise<string>
  /** Does not show what the operator types. */
  askHidden(question: string): Promise<string>
  close(): void
}

/** Asks questions on a terminal. Both kinds of question reject with `Interrupted` on Ctrl+C or Ctrl+D. */
export const createPrompt = ({ input, output }: Terminal): Prompt => {
  // Keys that are typed before the first visible question may be a password.
  let isHidden = true
  const screen = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) output.write(chunk)
      done()
    },
  })
  const reader = createInterface({ input, output: screen, terminal: true, historySize: 0 })
  reader.on('SIGINT', () => reader.close())
  // The iterator keeps lines that arrive before their question, as when both passwords are pasted at once.
  const lines = reader[Symbol.asyncIterator]()

  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (!done) return value
    output.write('\n')
    throw new Interrupted()
  }

  return {
    ask(question: string): Promise<string> {
      isHidden = false
      reader.setPrompt(question)
      reader.prompt()
      return nextLine()
    },

    async askHidden(question: string): Promise<string> {
      output.write(question)
      isHidden = true
      const line = await nextLine()
      output.write('\n')
      return line
    },

    close: (): void => reader.close(),
  }
}

/** Asks on the operator's terminal. Questions go to stderr, because stdout is for results. */
const withPrompt = async <T>(work: (prompt: Prompt) => Promise<T>): Promise<T> => {
  const prompt = createPrompt({ input: process.stdin, output: process.stderr })
  try {
    return await work(prompt)
  } finally {
    prompt.close()
  }
}

/** Asks before a change that cannot be undone, unless `--yes` is given. Throws on every answer but yes. */
export const confirm = async ({ yes }: { yes: boolean }, question: string, refusal: string): Promise<void> => {
  if (yes) return
  const answer = await withPrompt((prompt) => prompt.ask(`${escapeControls(question)} [y/N] `))
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new AppError('forbidden', refusal)
}

/** Refuses a command that could not ask: there is neither `--yes` nor a terminal. */
export const requireTerminalOrYes = (call: { yes: boolean; usageError: (message: string) => never }): void => {
  if (!call.yes && !process.stdin.isTTY) call.usageError('there is no terminal for the confirmation: give --yes')
}

/** The longest password has far less: a longer input is the wrong file. */
const MAX_BYTES = 16 * 1024

/** Reads a new password from standard input. On a terminal, the operator types it twice, hidden. */
export const readPassword = (): Promise<string> =>
  process.stdin.isTTY ? askTwice() : readLine(process.stdin as AsyncIterable<Buffer>)

const askTwice = (): Promise<string> =>
  withPrompt(async (prompt) => {
    const password = await prompt.askHidden('Password: ')
    if ((await prompt.askHidden('Once more: ')) === password) return password
    throw new AppError('unprocessable', 'the two entries differ, nothing was changed')
  })

/** Reads the only line of an input, without its line end. Throws `unprocessable` for more lines or invalid UTF-8. */
export const readLine = async (input: AsyncIterable<Buffer>): Promise<string> => {
  const text = decode(await readAtMost(input, MAX_BYTES)).replace(/\r?\n$/, '')
  if (!text.includes('\n')) return text
  throw new AppError('unprocessable', 'standard input has more than one line, and a password is one line')
}

const readAtMost = async (input: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new AppError('unprocessable', 'standard input is too long to be a password')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const decode = (bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new AppError('unprocessable', 'standard input is not UTF-8 text', { cause: error })
  }
}
