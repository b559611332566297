import { findClosest } from '../lib/closest-match.ts'
import en from './en.json' with { type: 'json' }

/** What a text must have in any language. */
export interface TextRule {
  /** The names of its places. */
  places: readonly string[]
  /** A text may do without these. */
  optional: readonly string[]
}

const ENGLISH: Readonly<Record<string, string | null>> = en

const PLACE = /\{(\w+)\}/g
const PLURAL = /_(?:zero|one|two|few|many|other)$/

const placesOf = (text: string): string[] => [...new Set([...text.matchAll(PLACE)].map(([, name = '']) => name))]

/** Without its form, the key of a plural; undefined for any other key. */
const pluralOf = (key: string): string | undefined => {
  const base = key.replace(PLURAL, '')
  return base !== key && Object.hasOwn(en, `${base}_other`) ? base : undefined
}

/** Lists the forms of plurals in a language, in their usual order. */
const formsOf = (tag: string): readonly string[] => {
  const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions()
  return ['zero', 'one', 'two', 'few', 'many', 'other'].filter((form) => pluralCategories.some((each) => each === form))
}

/** A form that stands for one number alone may say it in words. */
const ONE_NUMBER: ReadonlySet<string> = new Set(['zero', 'one', 'two'])

/** Lists the keys of all texts in a language, in the order of the English ones, with what each text must have. */
export const textKeysOf = (tag: string, scopes: readonly string[] = []): Map<string, TextRule> => {
  const rules = new Map<string, TextRule>()
  for (const [key, text] of Object.entries(ENGLISH)) {
    if (text === null) continue
    const plural = pluralOf(key)
    if (plural === undefined) rules.set(key, { places: placesOf(text), optional: [] })
    else
      for (const form of formsOf(tag)) {
        const optional = ONE_NUMBER.has(form) ? ['count'] : []
        rules.set(`${plural}_${form}`, { places: placesOf(ENGLISH[`${plural}_other`] ?? ''), optional })
      }
  }
  for (const scope of scopes) rules.set(`scope.${scope}`, { places: ['app'], optional: ['app'] })
  return rules
}

/** Nobody sees these, or they turn the text after them: U+00AD and others that break lines are fine. */
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/u
const MARKUP = /<\/?[a-z!]|&(?:[a-z]+|#\w+);/i

/** Lists what is wrong with a text, each as the rest of a sentence that begins with its key. */
export const findTextProblems = (text: string, { places, optional }: TextRule): string[] => {
  const problems: string[] = []
  if (text.trim() === '') problems.push('is empty')
  const unfit = UNFIT.exec(text)?.[0].codePointAt(0)
  if (unfit !== undefined) {
    const code = unfit.toString(16).toUpperCase().padStart(4, '0')
    problems.push(`has the character U+${code}: control and direction characters are not accepted`)
  }
  if (MARKUP.test(text)) problems.push('has HTML: texts are plain, and are escaped where they are shown')
  const own = placesOf(text)
  for (const name of places)
    if (!own.includes(name) && !optional.includes(name)) problems.push(`lacks the place {${name}}`)
  for (const name of own)
    if (!places.includes(name)) problems.push(`has the unknown place {${name}}${hintFor(name, places)}`)
  if (/[{}]/.test(text.replaceAll(PLACE, ''))) problems.push('has a brace that belongs to no place such as {app}')
  return problems
}

const hintFor = (name: string, places: readonly string[]): string => {
  const meant = findClosest(name, places)
  if (meant !== undefined) return `; did you mean {${meant}}?`
  return places.length === 0 ? ': it has none' : `: it has ${places.map((each) => `{${each}}`).join(', ')}`
}
