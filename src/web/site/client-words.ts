import { type ClientScope, OWN_SCOPES } from '../../clients/scope.ts'
import { t } from '../../languages/texts.ts'

/** Names a host in ASCII, with a port that is not the usual one. A name in another script could look like another. */
export const hostOf = (url: string): string => new URL(url).host

const isOwn = (scope: string): scope is (typeof OWN_SCOPES)[number] => OWN_SCOPES.some((own) => own === scope)

/** Says what each scope allows. The settings have the words for those of the application. */
export const scopesInWords = (scopes: readonly string[], known: readonly ClientScope[], app: string): string[] =>
  scopes.map((scope) =>
    isOwn(scope)
      ? t(`scope.${scope}`, { app })
      : (t.added(`scope.${scope}`, { app }) ?? known.find(({ name }) => name === scope)?.text ?? scope),
  )
