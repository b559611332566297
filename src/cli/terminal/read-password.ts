import { AppError } from '../../lib/errors.ts'

/** Far more than the longest password: a longer input is the wrong file. */
const MAX_BYTES = 16 * 1024

/** Reads a new password from standard input. On a terminal, the operator types it twice, hidden. */
export const readPassword = (): Promise<string> =>
  process.stdin.isTTY ? askTwice() : readLine(process.stdin as AsyncIterable<Buffer>)

const askTwice = async (): Promise<string> => {
  const { withPrompt } = await import('./prompt.ts')
  return withPrompt(async (prompt) => {
    const password = await prompt.askHidden('Password: ')
    if ((await prompt.askHidden('Once more: ')) === password) return password
    throw new AppError('unprocessable', 'the two entries differ, nothing was changed')
  })
}

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
