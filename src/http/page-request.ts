/** The headers of a request that tell whether it asks for a page. */
interface AskingHeaders {
  'sec-fetch-mode'?: string | string[] | undefined
  accept?: string | undefined
}

/**
 * Whether a browser shows what it gets as a page: it says so itself (Fetch Metadata), or, where it does not,
 * it accepts HTML. A script of a page accepts anything, and says `cors` or `same-origin`.
 */
export const isNavigation = ({ 'sec-fetch-mode': mode, accept = '' }: AskingHeaders): boolean =>
  mode ? mode === 'navigate' : accept.split(',').some(isHtml)

const isHtml = (range: string): boolean => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/html'

/** Whether a request asks for a page, which the login page can lead back to; a form that is sent cannot be sent again. */
export const isPageRequest = (method: string, headers: AskingHeaders): boolean =>
  (method === 'GET' || method === 'HEAD') && isNavigation(headers)
