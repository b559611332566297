/** The configured appearance. */
export interface Branding {
  appName: string
  /** An http(s) address, or a path on this origin. */
  logoUrl: string | undefined
  /** `#rrggbb` */
  accentColor: string
  /** Where users get help: https or mailto. */
  supportUrl?: string | undefined
  /** The path of the application that the logo leads to; by default `/`. */
  homeUrl?: string | undefined
  /** Whether users can ask for links by mail. */
  mailIsOn?: boolean | undefined
  /** Whether users have passwords, which texts then name; by default they have. */
  passwords?: boolean | undefined
  /** How many characters a new password has at least, which texts then name; by default 8. */
  passwordMinLength?: number | undefined
  /** Whether users can have passkeys; by default they can not. */
  passkeys?: boolean | undefined
}
