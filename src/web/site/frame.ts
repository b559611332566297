import type { Frame } from '../../http/frame.ts'
import type { Services } from '../../http/services.ts'
import { type Asset, createAssets } from './assets.ts'
import { type ProviderTargets, policyFor } from './content-security-policy.ts'
import { createDeadLinkPage } from './dead-link-page.ts'
import { createErrorPage, createNotSentPage, createWasLoggedOutPage } from './error-page.ts'
import { createLanguages, type Languages } from '../../languages/languages.ts'
import { createLanguagePicker } from './language-picker.ts'
import type { Branding } from './branding.ts'
import { type Layout, createLayout } from './layout.ts'
import { createProviderIcons } from './provider-icons.ts'

/** All pages share this. It is ready when the service listens; a page is loaded with the first request for it. */
export interface SiteFrame extends Frame {
  layout: Layout
  /** The paths of stylesheet, script and icons change with their content. */
  assets: Asset[]
  /** Finds a file that differs by language, by its path. It is undefined for a path that is none in this language. */
  findAsset(path: string): Asset | undefined
  /** Finds the path of the built-in icon of a well-known provider, by its name in the configuration. */
  iconOf(providerName: string): string | undefined
}

/** The handlers of screens are made from these services, each with a `Pick` of them. */
export type ScreenServices = Services & Pick<SiteFrame, 'layout' | 'iconOf'>

export type FrameSettings = Branding & { providers?: ProviderTargets; languages?: Languages }

const NO_PROVIDERS: ProviderTargets = { iconUrls: [], formActions: [] }

/**
 * Creates the frame for one name, logo, accent colour and list of providers; reads the stylesheet and the script.
 * Throws a TypeError on an invalid colour, address or source.
 */
export const createFrame = ({
  providers = NO_PROVIDERS,
  languages = createLanguages(),
  ...branding
}: FrameSettings): SiteFrame => {
  const assets = createAssets(branding)
  const icons = createProviderIcons()
  const layout = createLayout(branding, assets)
  return {
    layout,
    assets: [
      assets.style,
      assets.script,
      assets.icon,
      assets.passkeys(),
      assets.accountStyle,
      ...(assets.ownStyle ? [assets.ownStyle] : []),
      ...icons.assets,
    ],
    contentSecurityPolicy: policyFor(branding, providers),
    iconOf: icons.iconOf,
    findAsset: (path) => [assets.passkeys()].find((one) => one.path === path),
    withPicker: createLanguagePicker(languages),
    error: createErrorPage(layout),
    deadLink: createDeadLinkPage(layout),
    notSent: createNotSentPage(layout),
    wasLoggedOut: createWasLoggedOutPage(layout),
  }
}
