import { headerOf, type RequestSource } from './source.ts'

// A value that no header of Fetch can carry comes from no browser.
const OF_SVC = /^(?:__Host-|__Secure-)?svc_[^\s=]*=[\x20-\x7e\x80-\xff]*$/

const pairsOf = (source: RequestSource): string[] =>
  (headerOf(source, 'cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => OF_SVC.test(pair))

/** The cookies of svc in a request, as a header `Cookie`: svc needs no others, and the application's stay with it. */
export const svcCookiesOf = (source: RequestSource): string => pairsOf(source).join('; ')

/**
 * The access token of a request, not verified; undefined where there is none. Where there are two, one of them may
 * be an attacker's, and svc takes neither.
 */
export const accessTokenOf = (source: RequestSource): string | undefined => {
  for (const name of ['__Host-svc_access', 'svc_access']) {
    const [pair, another] = pairsOf(source).filter((each) => each.startsWith(`${name}=`))
    if (pair !== undefined) return another === undefined ? pair.slice(name.length + 1) || undefined : undefined
  }
  return undefined
}
