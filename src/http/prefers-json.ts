import type { IncomingHttpHeaders } from 'node:http'

/** Whether a script sent the form, which wants data and no page: a browser that shows a page accepts `text/html`. */
export const prefersJson = ({ accept }: IncomingHttpHeaders): boolean => {
  if (accept === undefined) return false
  const types = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase())
  return types.includes('application/json') && !types.includes('text/html')
}
