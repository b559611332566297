/** A site of a thief. */
export const EVIL_HOST = 'evil.example'

/** The longest `return_to` that is accepted. */
export const LONGEST_PATH = `/${'a'.repeat(2047)}`

/** Texts that some parser takes for the address of another site, or that are none at all. */
export const openRedirects = (port: number): string[] => [
  `//${EVIL_HOST}`,
  `///${EVIL_HOST}`,
  `////${EVIL_HOST}`,
  `//${EVIL_HOST}/..`,
  '//',
  `//localhost:${port}/x`,
  `//user@${EVIL_HOST}`,
  `/\\${EVIL_HOST}`,
  `\\/${EVIL_HOST}`,
  `\\\\${EVIL_HOST}`,
  `/\\/${EVIL_HOST}`,
  '/a\\b',
  '/?a=\\',
  '/#\\',
  `/\t/${EVIL_HOST}`,
  `/\n/${EVIL_HOST}`,
  `/\r/${EVIL_HOST}`,
  `/\r\n/${EVIL_HOST}`,
  `\t//${EVIL_HOST}`,
  `\n/x`,
  '/x\n',
  '/x\r\nSet-Cookie: a=b',
  '/\u0000',
  '/x\u0000y',
  '/x\u001f',
  '/x\u007f',
  '/x\u0085y',
  ' /x',
  '/x ',
  ' ',
  `https://${EVIL_HOST}`,
  `http://${EVIL_HOST}`,
  `https:${EVIL_HOST}`,
  `https:/${EVIL_HOST}`,
  `http:///${EVIL_HOST}`,
  `HTTP://${EVIL_HOST}`,
  `http://localhost:${port}/x`,
  'javascript:alert(1)',
  'data:text/html,x',
  'mailto:a@b.example',
  EVIL_HOST,
  'x',
  './x',
  '../x',
  '?x',
  '#x',
  '%2Fx',
  '／x',
  `${LONGEST_PATH}a`,
  `/${'a'.repeat(3000)}`,
]

/** Values whose origin is right, but whose Location would begin with two slashes and lead to another site. */
export const TREACHEROUS_PATHS: readonly string[] = [
  `/.//${EVIL_HOST}`,
  `/..//${EVIL_HOST}`,
  `/a/..//${EVIL_HOST}`,
  `/%2e//${EVIL_HOST}`,
  `/.%2E//${EVIL_HOST}`,
  `/././/${EVIL_HOST}`,
]
