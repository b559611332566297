import type { AllPages } from '../../src/preview/pages.ts'
import { oneTextOnly } from '../../src/preview/sample.ts'
import { statesOf } from '../../src/preview/states.ts'

/** Every page in every state that it can be in, by name, with one text wherever text of another user is shown. */
export const statesWith = (text: string): Record<string, (pages: AllPages) => string> => statesOf(oneTextOnly(text))

/** The states with an invalid form, and the id of the element that has the focus. */
export const WRONG_STATES: Record<string, string> = {
  'new email in another browser, wrong password': 'password',
  'confirm email in another browser, refused': 'password',
  'take over refused': 'new_password',
  'confirm signup in another browser, refused': 'password',
  'account with another email refused': 'email',
  'undo of a change of email, refused': 'password',
  'login refused': 'password',
  'login with the email or the username, refused': 'password',
  'login with the email or the username, incomplete': 'email',
  'login, a code, refused': 'code',
  'login, a code, held up': 'form-problem',
  'login, set-up refused': 'code',
  'second factor, set-up refused': 'code',
  're-authentication with a recovery code, refused': 'recovery_code',
  'login, a recovery code in place of a code, refused': 'recovery_code',
  'login incomplete': 'email',
  'login held up': 'form-problem',
  'login limited': 'form-problem',
  'code by mail, asked for without an address': 'email',
  'code by mail, asked for too often': 'form-problem',
  'code by mail, refused': 'code',
  'code by mail, for a new account without a name': 'name',
  'link that makes an account, without a name': 'name',
  'link account limited': 'form-problem',
  'consent refused': 'form-problem',
  'login limited anywhere': 'form-problem',
  'login limited in a known browser': 'form-problem',
  'login limited for the network': 'form-problem',
  'login of an old page': 'form-problem',
  'signup refused': 'email',
  'signup of another domain': 'email',
  'signup while busy': 'form-problem',
  'username refused': 'username',
  'name refused': 'name',
  'signup with a name that is missing': 'name',
  'password refused': 'current_password',
  'deletion refused': 'password',
  'account held up': 'form-problem',
  'account of an old page': 'form-problem',
  'first password refused': 'new_password',
  'name of a passkey refused': 'name-text1',
  'forgot password refused': 'email',
  'this was not me, a wrong recovery code': 'recovery_code',
  'this was not me, a bad password': 'password',
  'reset password refused': 'password',
  'reset with a recovery code, refused': 'recovery_code',
  'reset with passkeys alone, refused': 'passkey-problem',
  'reset with passkeys alone, without one': 'passkey-problem',
  'invitation refused': 'password',
  'invitation held up': 'form-problem',
  're-authentication refused': 'password',
  're-authentication held up': 'form-problem',
  'link account refused': 'password',
  'link account held up': 'form-problem',
}

const TOKEN = /<!doctype html>|<(\/?[a-z0-9]+)((?:\s+[a-z][a-zA-Z-]*(?:="[^"<>]*")?)*)\s*\/?>|[^<>]+/gy
const ATTRIBUTE = /([a-z][a-zA-Z-]*)(?:="([^"]*)")?/g

export interface Tag {
  name: string
  attributes: Record<string, string>
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** The tags of a page in order. Strict: throws if the text is anything but complete tags and escaped text. */
export const tagsOf = (page: string): Tag[] => {
  const tags: Tag[] = []
  let read = 0
  for (const [token, name, attributes = ''] of page.matchAll(TOKEN)) {
    read += token.length
    if (!name) continue
    const pairs = attributes
      .matchAll(ATTRIBUTE)
      .map(([, key = '', value = '']): [string, string] => [key, unescaped(value)])
    tags.push({ name, attributes: Object.fromEntries(pairs) })
  }
  if (read !== page.length) throw new Error(`Not HTML as we write it, from: ${page.slice(read, read + 200)}`)
  return tags
}
