const TAG = /^[a-z]{1,8}(?:-[a-z\d]{1,8})*$/i
/** RFC 5646 section 4.4.1 gives room for the longest tags in use. */
const MAX_LENGTH = 35

/** Tells whether a text looks like the tag of a language, or like a range of them (RFC 4647 section 2.1). */
export const isTagLike = (text: string): boolean => text.length <= MAX_LENGTH && TAG.test(text)

/** Writes a tag as it usually is: `pt-BR`. It is undefined for a text that is no tag (BCP 47). */
export const canonicalTag = (text: string): string | undefined => {
  if (!isTagLike(text)) return undefined
  try {
    return Intl.getCanonicalLocales(text)[0]
  } catch {
    return undefined
  }
}
