import type { CDPSession, Page } from 'playwright-core'

/** A virtual authenticator of one page (DevTools Protocol, WebAuthn). */
export interface Authenticator {
  /** The ids of its passkeys, in base64url. */
  ids(): Promise<string[]>
  /** Puts passkeys back that it has had. */
  restore(passkeys: readonly StoredPasskey[]): Promise<void>
  /** All that it holds, private keys too. */
  stored(): Promise<StoredPasskey[]>
  /** Whether the user touches it as soon as a site asks. Otherwise a request waits. */
  setPresent(isPresent: boolean): Promise<void>
  /** Whether the finger, the face or the PIN is the right one. */
  setVerified(isVerified: boolean): Promise<void>
  remove(): Promise<void>
}

type StoredPasskey = Awaited<ReturnType<typeof getCredentials>>['credentials'][number]

const getCredentials = (session: CDPSession, authenticatorId: string) =>
  session.send('WebAuthn.getCredentials', { authenticatorId })

const toBase64url = (base64: string): string => Buffer.from(base64, 'base64').toString('base64url')

const sessions = new WeakMap<Page, Promise<CDPSession>>()

const sessionOf = (page: Page): Promise<CDPSession> => {
  const known = sessions.get(page)
  if (known) return known
  const begun = page
    .context()
    .newCDPSession(page)
    .then(async (session) => {
      await session.send('WebAuthn.enable', { enableUI: false })
      return session
    })
  sessions.set(page, begun)
  return begun
}

/**
 * Gives the page an authenticator: `platform` is that of the device, any other is a security key. `synced` passkeys are
 * on several devices; `canVerify: false` has neither finger nor PIN.
 */
export const addAuthenticator = async (
  page: Page,
  {
    platform = true,
    synced = false,
    canVerify = true,
  }: { platform?: boolean; synced?: boolean; canVerify?: boolean } = {},
): Promise<Authenticator> => {
  const session = await sessionOf(page)
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: platform ? 'internal' : 'usb',
      hasResidentKey: true,
      hasUserVerification: canVerify,
      isUserVerified: canVerify,
      automaticPresenceSimulation: true,
      defaultBackupEligibility: synced,
      defaultBackupState: synced,
    },
  })
  const stored = async () => (await getCredentials(session, authenticatorId)).credentials
  return {
    stored,
    ids: async () => (await stored()).map(({ credentialId }) => toBase64url(credentialId)),
    restore: async (passkeys) => {
      for (const credential of passkeys) await session.send('WebAuthn.addCredential', { authenticatorId, credential })
    },
    setPresent: async (enabled) =>
      void (await session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })),
    setVerified: async (isUserVerified) =>
      void (await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })),
    remove: async () => void (await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })),
  }
}
