import { texts } from './texts.ts'

// The first match counts: most browsers also claim to be Chrome, and Chrome claims to be Safari.
const BROWSERS: readonly (readonly [string, RegExp])[] = [
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
]

// Android also claims to be Linux, and an iPhone to be like a Mac.
const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac(?:intosh| OS X)\b/],
  ['Linux', /\b(?:Linux|X11)\b/],
]

const PROGRAM = /^([\w.-]{1,40})\//

// A header may be 8 KB long; the device is named at its beginning.
const READ_CHARACTERS = 400

const firstMatch = (table: typeof BROWSERS, userAgent: string): string | undefined =>
  table.find(([, pattern]) => pattern.test(userAgent))?.[0]

/** A readable name for the device behind a `User-Agent`: "Firefox on Linux", "curl", "Unknown device". */
export const deviceName = (userAgent: string): string => {
  const read = userAgent.slice(0, READ_CHARACTERS)
  const browser = firstMatch(BROWSERS, read)
  const system = firstMatch(SYSTEMS, read)
  if (browser && system) return texts.deviceOn(browser, system)
  const program = PROGRAM.exec(read)?.[1]
  return browser ?? system ?? (program === 'Mozilla' ? undefined : program) ?? texts.deviceUnknown
}
