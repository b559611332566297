import { createBoundedCache } from '../lib/bounded-cache.ts'
import { currentLanguage, type Language, type Speaking, speakTo } from '../languages/language.ts'
import type { Languages } from '../languages/languages.ts'
import type { Frame } from './frame.ts'
import type { ContentResponse } from './response.ts'
import { parseReturnTo } from './return-to.ts'
import type { Destination } from './route.ts'
import type { IncomingRequest } from './transport/incoming-request.ts'

/** This many values of `Accept-Language` are remembered. Browsers of one country send the same few. */
const KEPT_HEADERS = 200
/** Longer ones come from no browser, and are not kept. */
const MAX_KEPT_LENGTH = 100

/** Finds the language of the page that answers a request, as far as the request itself says it. */
export const createPageLanguage = ({ get, negotiate }: Languages) => {
  const byHeader = createBoundedCache<Language>(KEPT_HEADERS)

  const byAcceptLanguage = (acceptLanguage = ''): Language => {
    const known = byHeader.get(acceptLanguage)
    if (known) return known
    const language = get(negotiate({ acceptLanguage }).tag)
    if (acceptLanguage.length <= MAX_KEPT_LENGTH) byHeader.set(acceptLanguage, language)
    return language
  }

  /** The picker counts more than the application that has sent the user. */
  const findChosen = (context: IncomingRequest, address: string): Language | undefined => {
    const cookie = context.cookies.single.language
    const uiLocales = address.includes('ui_locales') ? uiLocalesIn(address) : undefined
    if (cookie === undefined && uiLocales === undefined) return undefined
    const { tag, isChosen } = negotiate({ cookie, uiLocales })
    return isChosen ? get(tag) : undefined
  }

  return {
    find(context: IncomingRequest): Speaking {
      const chosen = findChosen(context, context.target)
      return chosen
        ? { language: chosen, isChosen: true }
        : { language: byAcceptLanguage(context.headers['accept-language']), isChosen: false }
    },

    /** The form of a page repeats where its user goes afterwards. */
    followForm(context: IncomingRequest): void {
      const chosen = findChosen(context, `?return_to=${context.form.get('return_to') ?? ''}`)
      if (chosen) speakTo(chosen, true)
    },
  }
}

/**
 * Goes on in the language that suits a user best, where that is known: of a user who is signed in, or who has proved
 * something. `stays`: the page is about this account, also where another user is signed in.
 */
export const speakToUser = (
  { get, suiting }: Pick<Languages, 'get' | 'suiting'>,
  tag: string | null | undefined,
  stays = false,
): void => {
  const suited = suiting(tag)
  if (suited !== undefined) speakTo(get(suited), stays)
}

/** A cache that keeps pages, although they are not to be stored, must keep one for each language. */
export const languageHeaders = (): string[] => [
  'content-language',
  currentLanguage().tag,
  'vary',
  'Accept-Language, Cookie',
]

interface PickerDeps {
  baseUrl: string
  frame: Pick<Frame, 'withPicker'>
  languages: Pick<Languages, 'offered'>
}

/** Puts the form for the language on a page whose address shows the same page again. */
export const createWithPicker = ({ baseUrl, frame, languages }: PickerDeps) => {
  const hasPicker = (context: IncomingRequest, to: Destination, response: ContentResponse): boolean =>
    to.responseKind === 'html' &&
    context.method !== 'POST' &&
    OWN_PAGE.test(context.path) &&
    !to.isShownOnce &&
    !response.isShownOnce &&
    (PLAIN.test(context.target) || parseReturnTo(context.target, { baseUrl }) !== undefined)

  return (context: IncomingRequest, to: Destination, response: ContentResponse): string =>
    languages.offered.length > 1 && hasPicker(context, to, response)
      ? frame.withPicker(response.body, { csrfToken: context.csrfToken, returnTo: addressFor(context, to) })
      : response.body
}

/**
 * The browser itself says in `Referer` which page the form stood on, but of a page whose address is private. So other
 * pages repeat nothing of their address, which anybody may have written.
 */
const addressFor = ({ isAddressPrivate, target }: IncomingRequest, { holdsToken }: Destination): string | undefined =>
  holdsToken || isAddressPrivate ? target : undefined

/** The usual addresses need no URL to be made of them. */
const PLAIN = /^\/auth\/[a-z/-]{1,100}$/

/** Other paths belong to the application. */
const OWN_PAGE = /^\/(?:auth(?:\/|$)|$)/

/** The parameter stands in the query, or in that of a `return_to`, which is encoded as often as it is nested. */
const UI_LOCALES = /(?:[?&]|%(?:25)*(?:3f|26))ui_locales(?:=|%(?:25)*3d)([a-z\d-]+(?:(?:\+|%(?:25)*20)[a-z\d-]+)*)/i

const uiLocalesIn = (target: string): string | undefined =>
  UI_LOCALES.exec(target)?.[1]?.replaceAll(/\+|%(?:25)*20/g, ' ')
