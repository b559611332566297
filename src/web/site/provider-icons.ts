import { type Asset, asset } from './assets.ts'

const svg = (body: string): string => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">${body}</svg>`

// An image cannot inherit the text colour of the page, so it queries the colour scheme itself.
const inkStyle = (light: string, dark: string): string =>
  `<style>.a{fill:${light}}@media(prefers-color-scheme:dark){.a{fill:${dark}}}</style>`

/** These are icons of 20 pixels, for light and dark backgrounds. */
const DRAWINGS: Readonly<Record<string, string>> = {
  google:
    '<g fill="none" stroke-width="4"><path stroke="#ea4335" d="M4.9 7.9a8.2 8.2 0 0 1 13.19-1.39"/><path stroke="#fbbc05" d="M4.9 16.1a8.2 8.2 0 0 1 0-8.2"/><path stroke="#34a853" d="M17.49 18.09A8.2 8.2 0 0 1 4.9 16.1"/><path stroke="#4285f4" d="M12 12h8.2a8.2 8.2 0 0 1-2.71 6.09"/></g>',
  github: `${inkStyle('#1f2328', '#f0f3f6')}<mask id="m"><path fill="#fff" d="M0 0h24v24H0z"/><path d="M6.2 5c1-.2 2.3.3 3.4 1a9.6 9.6 0 0 1 4.8 0c1.1-.7 2.4-1.2 3.4-1 .5 1.2.5 2.4.2 3.3a4.9 4.9 0 0 1 1.2 3.3c0 3.6-2.2 5-4.7 5.3.6.6.9 1.4.9 2.6V24H8.6v-4.5c0-1.2.3-2 .9-2.6-2.5-.3-4.7-1.7-4.7-5.3A4.9 4.9 0 0 1 6 8.3c-.3-.9-.3-2.1.2-3.3z"/><path fill="none" stroke="#000" stroke-width="1.4" d="M9 20.4c-2.7.7-3-1.9-4.7-2.2"/></mask><circle class="a" cx="12" cy="12" r="11" mask="url(#m)"/>`,
  microsoft:
    '<path fill="#f25022" d="M2 2h9.5v9.5H2z"/><path fill="#7fba00" d="M12.5 2H22v9.5h-9.5z"/><path fill="#00a4ef" d="M2 12.5h9.5V22H2z"/><path fill="#ffb900" d="M12.5 12.5H22V22h-9.5z"/>',
  apple: `${inkStyle('#1c1c1e', '#f5f5f7')}<path class="a" d="M12 7.6c1-.1 2.3-1.1 4.1-1 1.6.1 2.9.8 3.7 2-1.8 1.1-2.7 2.6-2.6 4.2 0 1.8 1.1 3.2 3 3.9-.9 2.6-2.8 5.3-4.6 5.3-1.3 0-2-.8-3.5-.8s-2.3.8-3.5.8c-2.5 0-5.2-4.8-5.2-8.9 0-4.1 2.5-6.4 5.1-6.4 1.5 0 2.7.9 3.5.9zM15.9 1.5c.2 2.6-1.8 4.6-4 4.5-.2-2.4 1.8-4.4 4-4.5z"/>`,
  gitlab:
    '<path fill="#e24329" d="M12 22 7.9 9.4h8.2zM2.2 9.4 4.7 2c.2-.5.8-.5 1 0l2.2 7.4zm19.6 0L19.3 2c-.2-.5-.8-.5-1 0l-2.2 7.4z"/><path fill="#fc6d26" d="M12 22 2.2 9.4h5.7zm0 0 9.8-12.6h-5.7z"/><path fill="#fca326" d="M12 22 1.4 14.3a1 1 0 0 1-.4-1.2l1.2-3.7zm0 0 10.6-7.7a1 1 0 0 0 .4-1.2l-1.2-3.7z"/>',
  discord:
    '<path fill="#5865f2" fill-rule="evenodd" d="M8.6 4c-1.7.3-3.2.8-4.4 1.5C1.9 9 1 13 1.4 17.2c1.7 1.4 3.5 2.3 5.4 2.9.5-.6.9-1.3 1.2-2-.7-.3-1.3-.6-1.9-1 3.7 1.7 8 1.7 11.8 0-.6.4-1.2.7-1.9 1 .3.7.7 1.4 1.2 2 1.9-.6 3.7-1.5 5.4-2.9.4-4.2-.5-8.2-2.8-11.7-1.2-.7-2.7-1.2-4.4-1.5l-.8 1.5c-1.7-.2-3.5-.2-5.2 0zm-.2 6.4c1.1 0 2 1 2 2.2s-.9 2.2-2 2.2-2-1-2-2.2.9-2.2 2-2.2zm7.2 0c1.1 0 2 1 2 2.2s-.9 2.2-2 2.2-2-1-2-2.2.9-2.2 2-2.2z"/>',
}

/** Creates the built-in icons of the well-known providers. */
export const createProviderIcons = () => {
  const icons = new Map<string, Asset>()
  for (const [name, body] of Object.entries(DRAWINGS))
    icons.set(name, asset(name, 'svg', 'image/svg+xml; charset=utf-8', svg(body)))
  return {
    assets: [...icons.values()],
    /** Finds the path of a provider's icon, by its name in the configuration. */
    iconOf: (providerName: string): string | undefined => icons.get(providerName)?.path,
  }
}
