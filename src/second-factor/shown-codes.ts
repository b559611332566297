import type { RootSecret } from '../lib/derived-keys.ts'
import { createSealedTokens } from '../lib/sealed-token.ts'
import type { Clock } from '../lib/time.ts'

const TEN_MINUTES_MS = 600_000

/** Recovery codes on their way to the page that shows them once. No readable copy of them is stored anywhere. */
export const createShownCodes = ({ rootSecret, clock }: { rootSecret: RootSecret; clock: Clock }) => {
  const tokens = createSealedTokens<string[]>({
    rootSecret,
    clock,
    purpose: 'recovery codes to show',
    lifetimeMs: TEN_MINUTES_MS,
  })

  return {
    sealCodes: (userId: string, codes: string[]): string => tokens.seal(codes, userId),

    /** Undefined for those of another user, and after ten minutes. */
    openCodes(userId: string, sealed: string | undefined): string[] | undefined {
      const opened = tokens.open(sealed, userId)
      return opened && !opened.problem ? opened.content : undefined
    },
  }
}
