import { readFileSync } from 'node:fs'

/** The script knows this about the installation, and nothing about anybody who loads it. */
interface SessionScriptSettings {
  /** The access token at login has this audience. */
  audience: string
  /** This and the following are names of cookies. */
  session: string
  fresh: string
  csrf: string
}

const SOURCE = new URL('./session.js', import.meta.url)

/** Makes the text of `/auth/session.js`, without its comments: every visitor loads it. */
export const createSessionScript = (settings: SessionScriptSettings): string => {
  const source = readFileSync(SOURCE, 'utf8').replace(/^ *\/\/.*\n|^\n/gm, '')
  return `'use strict';((settings) => {\n${source}})(${JSON.stringify(settings)})\n`
}
