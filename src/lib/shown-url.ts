/** A URL as it may be shown, right or wrong: without user and password, and without a query or fragment, which may hold a token. */
export const shownUrl = (url: string): string =>
  url.replace(/^([^?#]*?\/\/)[^/?#]*@/, '$1…@').replace(/([?#]).+$/s, '$1…')
