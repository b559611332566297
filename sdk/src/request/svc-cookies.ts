import { headerOf, type RequestSource } from './source.ts'

// A value that no header of Fetch can carry comes from no browser.
const OF_SVC = /^(?:__Host-|__Secure-)?svc_[^\s=]*=[\x20-\x7e\x80-\xff]*$/

/** The cookies of svc in a request, as a header `Cookie`: svc needs no others, and the application's stay with it. */
export const svcCookiesOf = (source: RequestSource): string =>
  (headerOf(source, 'cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => OF_SVC.test(pair))
    .join('; ')
