import { AppError } from './errors.ts'

/** Removes the spaces and hyphens that people type into a code. It throws `unprocessable` when nothing is left. */
export const readTypedCode = (entered: string): string => {
  const code = entered.normalize('NFKC').replaceAll(/[\s-]/g, '')
  if (code !== '') return code
  throw new AppError('unprocessable', 'Enter the code.', { field: 'code', reason: 'code_missing' })
}
