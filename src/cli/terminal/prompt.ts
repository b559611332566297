import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Somebody pressed Ctrl+C or Ctrl+D in place of an answer. */
export class Interrupted extends Error {}

interface Terminal {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}

/** Asks questions on a terminal. `Interrupted` when Ctrl+C or Ctrl+D is the answer. */
export const createPrompt = ({ input, output }: Terminal) => {
  // Until an open question is asked: keys that come early may be a password.
  let isHidden = true
  const screen = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) output.write(chunk)
      done()
    },
  })
  const reader = createInterface({ input, output: screen, terminal: true, historySize: 0 })
  reader.on('SIGINT', () => reader.close())
  // The iterator keeps lines that come before they are asked for: both passwords may be pasted at once.
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

    /** What is typed is not shown. */
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

type Prompt = ReturnType<typeof createPrompt>

/** Asks on the operator's terminal; the questions go to stderr, because stdout is for results. */
export const withPrompt = async <T>(work: (prompt: Prompt) => Promise<T>): Promise<T> => {
  const prompt = createPrompt({ input: process.stdin, output: process.stderr })
  try {
    return await work(prompt)
  } finally {
    prompt.close()
  }
}
