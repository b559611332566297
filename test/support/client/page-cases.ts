/** What one request says about itself, and what it counts as (CONTRACT.md 4.13). */
export interface PageCase {
  method: string
  /** Names in lower case. */
  headers: Record<string, string>
  /** `page`: it leads to the login page; `form`: a person sees the response; `other`: a program reads it. */
  is: 'page' | 'form' | 'other'
}

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

/** What counts as a page, as a table: for `/auth/check`, and for what imitates it. */
export const PAGE_CASES: readonly PageCase[] = [
  // What browsers say themselves counts, whatever they accept.
  { method: 'GET', headers: { 'sec-fetch-mode': 'navigate', accept: BROWSER }, is: 'page' },
  { method: 'HEAD', headers: { 'sec-fetch-mode': 'navigate', accept: BROWSER }, is: 'page' },
  { method: 'GET', headers: { 'sec-fetch-mode': 'navigate' }, is: 'page' },
  { method: 'GET', headers: { 'sec-fetch-mode': 'navigate', accept: 'application/json' }, is: 'page' },
  { method: 'GET', headers: { 'sec-fetch-mode': 'cors', accept: BROWSER }, is: 'other' },
  { method: 'GET', headers: { 'sec-fetch-mode': 'same-origin', accept: 'text/html' }, is: 'other' },
  { method: 'GET', headers: { 'sec-fetch-mode': 'no-cors', accept: 'image/avif,*/*' }, is: 'other' },
  { method: 'GET', headers: { 'sec-fetch-mode': 'websocket' }, is: 'other' },
  { method: 'GET', headers: { 'sec-fetch-mode': 'nested-navigate', accept: BROWSER }, is: 'other' },
  { method: 'GET', headers: { 'sec-fetch-mode': 'navigate, navigate', accept: BROWSER }, is: 'other' },
  // Without it, HTML must be named: programs accept anything.
  { method: 'GET', headers: { accept: BROWSER }, is: 'page' },
  { method: 'HEAD', headers: { accept: 'text/html' }, is: 'page' },
  { method: 'GET', headers: { accept: 'application/json;q=0.9, TEXT/HTML;q=0.8' }, is: 'page' },
  { method: 'GET', headers: { 'sec-fetch-mode': '', accept: 'text/html' }, is: 'page' },
  { method: 'GET', headers: { accept: '*/*' }, is: 'other' },
  { method: 'GET', headers: { accept: 'text/*' }, is: 'other' },
  { method: 'GET', headers: { accept: 'application/json' }, is: 'other' },
  { method: 'GET', headers: { accept: 'text/html-but-not-quite, x-text/html' }, is: 'other' },
  { method: 'GET', headers: { accept: '' }, is: 'other' },
  { method: 'GET', headers: {}, is: 'other' },
  // A form cannot be sent again by a redirect.
  { method: 'POST', headers: { 'sec-fetch-mode': 'navigate', accept: BROWSER }, is: 'form' },
  { method: 'POST', headers: { accept: 'text/html' }, is: 'form' },
  { method: 'PUT', headers: { 'sec-fetch-mode': 'navigate' }, is: 'form' },
  { method: 'POST', headers: { 'sec-fetch-mode': 'cors', accept: BROWSER }, is: 'other' },
  { method: 'POST', headers: { accept: '*/*' }, is: 'other' },
  { method: 'DELETE', headers: { 'sec-fetch-mode': 'same-origin' }, is: 'other' },
  { method: 'OPTIONS', headers: { 'sec-fetch-mode': 'cors' }, is: 'other' },
  // Methods are case-sensitive (RFC 9110 section 9.1).
  { method: 'get', headers: { 'sec-fetch-mode': 'navigate' }, is: 'form' },
]
