import { AppError } from '../lib/errors.ts'

/** A code as it was typed, without the spaces and hyphens that people put in; `unprocessable` when nothing is left. */
export const readTypedCode = (entered: string): string => {
  const code = entered.normalize('NFKC').replaceAll(/[\s-]/g, '')
  if (code !== '') return code
  throw new AppError('unprocessable', 'Enter the code.', { field: 'code', reason: 'code_missing' })
}
