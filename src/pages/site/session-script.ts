import { readFileSync } from 'node:fs'

/** What the script knows about this installation: nothing about anybody who loads it. */
interface SessionScriptSettings {
  /** That of the access token at login. */
  audience: string
  /** Names of cookies. */
  session: string
  fresh: string
  csrf: string
}

const SOURCE = new URL('./session.js', import.meta.url)

/** The text of `/auth/session.js`, without its comments: every visitor loads it. */
export const createSessionScript = (settings: SessionScriptSettings): string => {
  const source = readFileSync(SOURCE, 'utf8').replace(/^ *\/\/.*\n|^\n/gm, '')
  return `'use strict';((settings) => {\n${source}})(${JSON.stringify(settings)})\n`
}
