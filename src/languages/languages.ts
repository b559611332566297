import { readdirSync, readFileSync } from 'node:fs'
import type { Catalogue } from './catalogue.ts'
import en from './en.json' with { type: 'json' }
import { createLanguage, type Language, ownEnglish } from './language.ts'
import { PSEUDO, pseudoCatalogue } from './pseudo.ts'
import { lookUp, type Ranges, readAcceptLanguage, readUiLocales } from './negotiation.ts'

/** A request names languages in these ways. The first that leads to one of ours counts. */
interface Wishes {
  /** The picker has set this cookie. */
  cookie?: string | undefined
  /** An application has sent this with the user. */
  uiLocales?: string | undefined
  acceptLanguage?: string | undefined
}

/** The language of a request, and whether it was chosen: then the one that is stored for the user does not count. */
interface Negotiated {
  tag: string
  isChosen: boolean
}

/** The languages of pages and messages. */
export interface Languages {
  /** People can choose these, in the order in which they are offered. */
  readonly offered: readonly string[]
  /** This is the language of those who name none of ours. */
  readonly usual: string
  /** Loads a language when it is first asked for. Throws a `TypeError` for one that is not offered. */
  get(tag: string): Language
  /** Gives the tag itself; undefined for one that is not offered. */
  find(tag: string | null | undefined): string | undefined
  /** Finds the one that suits a user best, by the language that is stored for them. */
  suiting(tag: string | null | undefined): string | undefined
  negotiate(wishes: Wishes): Negotiated
}

/** Texts of the operator by tag, each with the keys that it replaces. */
export type OwnTexts = ReadonlyMap<string, Readonly<Record<string, string>>>

interface LanguagesSettings {
  /** It is English if left out. */
  usual?: string | undefined
  /** These are all if left out. */
  offered?: readonly string[] | undefined
  own?: OwnTexts | undefined
}

const FOLDER = new URL('./', import.meta.url)

/** The list of files is the list of languages: no file is opened by a name that comes from elsewhere. */
export const ownTags = (): readonly string[] =>
  (tags ??= readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .toSorted())

let tags: readonly string[] | undefined

/** Reads the texts of svc for a language, or for the one that it falls back to. */
export const readCatalogue = (tag: string): Catalogue => ({ ...en, ...readOwnCatalogue(baseOf(tag)) })

const readOwnCatalogue = (tag: string): Catalogue => {
  if (tag === 'en') return en
  if (tag === PSEUDO) return pseudoCatalogue()
  if (!ownTags().includes(tag)) throw new TypeError(`There is no language ${tag}.`)
  return JSON.parse(readFileSync(new URL(`./${tag}.json`, FOLDER), 'utf8')) as Catalogue
}

/** A language that is not ours has the texts of this one where it has none of its own. */
const baseOf = (tag: string): string => lookUp([tag], knownTags()) ?? 'en'

/** These can be offered without a file of the operator's. */
export const knownTags = (): readonly string[] => [...ownTags(), PSEUDO]

export const createLanguages = ({ usual = 'en', offered, own }: LanguagesSettings = {}): Languages => {
  const all = [...new Set([...(offered ?? [...ownTags(), ...(own?.keys() ?? [])]), usual])]
  const loaded = new Map<string, Language>()

  const load = (tag: string): Language => {
    const texts = own?.get(tag)
    if (tag === 'en' && !texts) return ownEnglish()
    return createLanguage(tag, { ...readCatalogue(tag), ...texts })
  }

  const find: Languages['find'] = (tag) => all.find((one) => one === tag)

  const negotiated = (ranges: Ranges): string | undefined => (ranges.length === 0 ? undefined : lookUp(ranges, all))

  return {
    offered: all,
    usual,
    find,
    suiting: (tag) => (tag ? negotiated([tag]) : undefined),

    get(tag) {
      const known = loaded.get(tag)
      if (known) return known
      if (!all.includes(tag)) throw new TypeError(`The language ${tag} is not offered.`)
      const language = load(tag)
      loaded.set(tag, language)
      return language
    },

    negotiate({ cookie, uiLocales, acceptLanguage }) {
      const chosen = find(cookie) ?? negotiated(readUiLocales(uiLocales))
      if (chosen !== undefined) return { tag: chosen, isChosen: true }
      return { tag: negotiated(readAcceptLanguage(acceptLanguage)) ?? usual, isChosen: false }
    },
  }
}

/** Each language names itself, as its speakers write it in a list. */
const NAMES: Readonly<Record<string, string>> = {
  ar: 'العربية',
  de: 'Deutsch',
  en: 'English',
  es: 'Español',
  fr: 'Français',
  he: 'עברית',
  it: 'Italiano',
  ja: '日本語',
  ko: '한국어',
  nl: 'Nederlands',
  pl: 'Polski',
  'pt-BR': 'Português (Brasil)',
  [PSEUDO]: '[Þšéûðõ]',
  tr: 'Türkçe',
  uk: 'Українська',
  'zh-Hans': '简体中文',
}

export const languageName = (tag: string): string =>
  NAMES[tag] ?? new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag
