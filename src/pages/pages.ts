import { createAccountPage } from './account.ts'
import { type Asset, createAssets } from './assets.ts'
import { createErrorPage } from './error.ts'
import { type Branding, createLayout } from './layout.ts'
import { createLoginPage } from './login.ts'
import { createLogoutPage } from './logout.ts'
import { createSignupPage } from './signup.ts'
import type { AccountView, ErrorView, LoginView, LogoutView, SignupView } from './views.ts'

export type { Branding } from './layout.ts'
export type * from './views.ts'
export { isFieldProblem } from './views.ts'

/** Everything that a browser is shown. Each page is a function of its view, and returns a whole document. */
export interface Pages {
  /** Stylesheet, script and icon; their paths change with their content. */
  assets: Asset[]
  /** For the `Content-Security-Policy` header of every page. */
  contentSecurityPolicy: string
  login(view: LoginView): string
  signup(view: SignupView): string
  logout(view: LogoutView): string
  account(view: AccountView): string
  error(view: ErrorView): string
}

const OWN_ORIGIN = 'https://own.invalid'

// A URL's host may hold a semicolon, which would begin another directive.
const SOURCE = /^https?:\/\/[\w.:[\]-]+$/

/** Where images come from: our own origin, and the logo's where that is another. */
const imageSources = (logoUrl: string | undefined): string => {
  const { origin } = new URL(logoUrl ?? '/', OWN_ORIGIN)
  if (!SOURCE.test(origin)) throw new TypeError(`A logo is an http or https address, or a path: ${logoUrl}`)
  return origin === OWN_ORIGIN ? "'self'" : `'self' ${origin}`
}

const policyFor = ({ logoUrl }: Branding): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    `img-src ${imageSources(logoUrl)}`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

/** Builds the pages for one name, logo and accent colour; reads the style and the script. TypeError on a bad one. */
export const createPages = (branding: Branding): Pages => {
  const assets = createAssets(branding.appName, branding.accentColor)
  const layout = createLayout(branding, assets)
  return {
    assets: [assets.style, assets.script, assets.icon],
    contentSecurityPolicy: policyFor(branding),
    login: createLoginPage(layout),
    signup: createSignupPage(layout),
    logout: createLogoutPage(layout),
    account: createAccountPage(layout),
    error: createErrorPage(layout),
  }
}
