import { type Asset, createAssets } from './assets.ts'
import { type ProviderTargets, policyFor } from './content-security-policy.ts'
import { type DeadLinkView, createDeadLinkPage } from './dead-link-page.ts'
import {
  type ErrorView,
  type NotSentView,
  createErrorPage,
  createNotSentPage,
  createWasLoggedOutPage,
} from './error-page.ts'
import { type Branding, type Layout, createLayout } from './layout.ts'
import { createProviderIcons } from './provider-icons.ts'

/**
 * All pages and the pages of errors share this. It is ready when the service listens. All other pages are loaded with
 * the first request for one (`pages.ts`).
 */
export interface Frame {
  layout: Layout
  /** The paths of stylesheet, script and icons change with their content. */
  assets: Asset[]
  /** Makes the `Content-Security-Policy` header of a page that may have been opened on these hosts. */
  contentSecurityPolicy: (hosts: readonly string[]) => string
  /** Finds the path of the built-in icon of a well-known provider, by its name in the configuration. */
  iconOf(providerName: string): string | undefined
  /** This is the path of the icon that stands for the password. */
  passwordIcon: string
  error(view: ErrorView): string
  deadLink(view: DeadLinkView): string
  notSent(view: NotSentView): string
  wasLoggedOut(view: NotSentView): string
}

export type FrameSettings = Branding & { providers?: ProviderTargets }

const NO_PROVIDERS: ProviderTargets = { iconUrls: [], formActions: [] }

/**
 * Creates the frame for one name, logo, accent colour and list of providers; reads the stylesheet and the script.
 * Throws a TypeError on an invalid colour, address or source.
 */
export const createFrame = ({ providers = NO_PROVIDERS, ...branding }: FrameSettings): Frame => {
  const assets = createAssets(branding.appName, branding.accentColor)
  const icons = createProviderIcons()
  const layout = createLayout(branding, assets)
  return {
    layout,
    assets: [assets.style, assets.script, assets.icon, assets.passkeys, ...icons.assets],
    contentSecurityPolicy: policyFor(branding, providers),
    iconOf: icons.iconOf,
    passwordIcon: icons.password,
    error: createErrorPage(layout),
    deadLink: createDeadLinkPage(layout),
    notSent: createNotSentPage(layout),
    wasLoggedOut: createWasLoggedOutPage(layout),
  }
}
