// The first match counts: most browsers also claim to be Chrome, and Chrome claims to be Safari.
const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|OPiOS|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Vivaldi', /\bVivaldi\//],
  ['Yandex', /\bYaBrowser\//],
  ['DuckDuckGo', /\b(?:DuckDuckGo|Ddg)\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chromium', /\bChromium\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bVersion\/[\d.]+.*\bSafari\//],
] as const satisfies readonly (readonly [string, RegExp])[]

// Android also claims to be Linux, and an iPhone to be like a Mac.
const SYSTEMS = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac(?:intosh| OS X)\b/],
  ['Linux', /\b(?:Linux|X11)\b/],
] as const satisfies readonly (readonly [string, RegExp])[]

/** The names are those of fixed lists by which a `User-Agent` is known. They hold no text of the request. */
export interface KnownDevice {
  browser?: (typeof BROWSERS)[number][0]
  system?: (typeof SYSTEMS)[number][0]
}

const PROGRAM = /^([\w.-]{1,40})\//

// A header may be 8 KB long; the device is named at its beginning.
const READ_CHARACTERS = 400

/** Recognises the browser and the system behind a `User-Agent`. */
export const knownDevice = (userAgent: string): KnownDevice => {
  const read = userAgent.slice(0, READ_CHARACTERS)
  const browser = BROWSERS.find(([, pattern]) => pattern.test(read))?.[0]
  const system = SYSTEMS.find(([, pattern]) => pattern.test(read))?.[0]
  return { ...(browser && { browser }), ...(system && { system }) }
}

/** Finds the program that a `User-Agent` names, such as "curl". This is text of the request. */
export const programName = (userAgent: string): string | undefined => {
  const program = PROGRAM.exec(userAgent)?.[1]
  return program === 'Mozilla' ? undefined : program
}
