// Cloudflare Workers throw at this option before 2024-11-11, and store nothing that has a header `Cookie`.
const isKnown = (): boolean => {
  try {
    return new Request('http://svc.invalid', { cache: 'no-store' }).cache !== undefined
  } catch {
    return false
  }
}

/** Keeps an answer about one user out of caches, such as that of Next.js. */
export const noStore = (): { cache?: 'no-store' } => (isKnown() ? { cache: 'no-store' } : {})
