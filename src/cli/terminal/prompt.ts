import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

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
  // Hidden until the first visible question, because keys that are typed early may be a password.
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
export const withPrompt = async <T>(work: (prompt: Prompt) => Promise<T>): Promise<T> => {
  const prompt = createPrompt({ input: process.stdin, output: process.stderr })
  try {
    return await work(prompt)
  } finally {
    prompt.close()
  }
}
