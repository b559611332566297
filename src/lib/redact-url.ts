/**
 * A URL, valid or not, without its secret parts: user and password, and query and fragment, which may contain a token.
 */
export const redactUrl = (url: string): string =>
  url.replace(/^([^?#]*?\/\/)[^/?#]*@/, '$1…@').replace(/([?#]).+$/s, '$1…')
