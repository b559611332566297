import { headerOf, methodOf, type RequestSource } from './source.ts'

const isHtml = (range: string): boolean => range.split(';', 1)[0]?.trim().toLowerCase() === 'text/html'

/**
 * Whether a browser shows the answer as a page: it says so itself (Fetch Metadata), or, where it does not, it accepts
 * HTML. A script of a page accepts anything, and says `cors` or `same-origin`.
 */
export const isNavigation = (source: RequestSource): boolean => {
  const mode = headerOf(source, 'sec-fetch-mode')
  return mode ? mode === 'navigate' : (headerOf(source, 'accept') ?? '').split(',').some(isHtml)
}

/** Whether the login page can lead back to a request: it asks for a page, and sends nothing that would be lost. */
export const isPageRequest = (source: RequestSource): boolean =>
  /^(?:GET|HEAD)$/.test(methodOf(source)) && isNavigation(source)
