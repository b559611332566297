import type { AccountView } from '../web/account/account-view.ts'

const nowMs = Date.UTC(2026, 10, 21, 16, 53)
const hoursAgo = (hours: number): number => nowMs - hours * 3_600_000

const device = { createdAtMs: hoursAgo(300), current: false }
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'
const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'

const event = {
  by: 'user',
  userAgent: CHROME,
  address: '203.0.113.7',
  method: undefined,
  application: undefined,
  reason: undefined,
  count: 1,
  isCurrent: false,
} as const
const passkey = { isSynced: true, removable: true, addedAtMs: hoursAgo(1000) }
const provider = (name: string, label: string) => ({ name, label })

/** Applications with a usual name and a long one, with many scopes and with none. */
export const APPLICATIONS: AccountView['applications'] = [
  {
    clientId: 'c-1',
    name: 'Notebook',
    place: 'notes.example.net',
    scopes: ['Read your notes', 'Change your notes', 'See your email address'],
    sinceMs: hoursAgo(400),
    lastUsedMs: hoursAgo(1),
  },
  {
    clientId: 'https://agent.example/client.json',
    name: 'A name of an application as long as the rules of names allow',
    place: 'a-host-with-a-rather-long-name.agents.example',
    scopes: Array.from({ length: 20 }, (_, index) => `Do thing number ${index + 1} with your notes`),
    sinceMs: hoursAgo(2000),
    lastUsedMs: hoursAgo(900),
  },
  {
    clientId: 'c-3',
    name: 'Notes CLI',
    place: 'A program on a device',
    scopes: [],
    sinceMs: hoursAgo(3),
    lastUsedMs: hoursAgo(3),
  },
]

/** The account of a user who has everything that an account can have while svc is no OAuth server. */
export const EVERYTHING: AccountView = {
  csrfToken: 'a-token-of-forty-three-characters-as-they-are',
  user: { email: 'ada@example.com', username: 'ada', createdAtMs: hoursAgo(9600) },
  nowMs,
  sessions: [
    { ...device, id: 'd-1', userAgent: CHROME, address: '203.0.113.7', lastSeenAtMs: nowMs, current: true },
    { ...device, id: 'd-2', userAgent: IPHONE, address: '2001:db8:85a3::8a2e:370:7334', lastSeenAtMs: hoursAgo(3) },
    { ...device, id: 'd-3', userAgent: WINDOWS, address: '198.51.100.23', lastSeenAtMs: hoursAgo(50) },
  ],
  moreSessions: 5,
  email: {
    isVerified: false,
    requested: 'ada.lovelace@example.com',
    mailIsOn: true,
    canConfirm: true,
    isRecentlyAuthenticated: true,
  },
  newEmail: { value: '' },
  username: { value: 'ada' },
  data: { isRecentlyAuthenticated: true },
  password: { errors: {} },
  deletion: {},
  signIn: {
    hasPassword: true,
    isRecentlyAuthenticated: true,
    linked: [
      { id: 'i-1', label: 'Google', email: 'ada.lovelace@gmail.com', linkedAtMs: hoursAgo(4600), removable: true },
      { id: 'i-2', label: 'GitHub', email: undefined, linkedAtMs: hoursAgo(2200), removable: true },
    ],
    linkable: [provider('microsoft', 'Microsoft'), provider('apple', 'Apple'), provider('corp', 'Corp')],
  },
  passkeys: {
    list: [
      { ...passkey, id: 'p-1', name: 'iCloud Keychain', lastUsedAtMs: hoursAgo(2) },
      { ...passkey, id: 'p-2', name: 'YubiKey 5C', lastUsedAtMs: undefined, isSynced: false },
      {
        ...passkey,
        id: 'p-3',
        name: 'A name of a passkey that its user has made as long as it may be',
        lastUsedAtMs: hoursAgo(1500),
      },
    ],
    isRecentlyAuthenticated: true,
    offer: undefined,
    accepted: { rpId: 'example.com', userId: 'dXNlcg', allAcceptedCredentialIds: ['cC0x', 'cC0y', 'cC0z'] },
  },
  secondFactor: { csrfToken: 'a-token', trustedBrowsers: 2, hasApp: true, recoveryCodes: 7 },
  activity: [
    { ...event, type: 'login.succeeded', atMs: hoursAgo(0.1), isCurrent: true },
    { ...event, type: 'login.failed', atMs: hoursAgo(3), userAgent: WINDOWS, address: '198.51.100.99', count: 17 },
    { ...event, type: 'user.roles_changed', atMs: hoursAgo(30), by: 'operator' },
    { ...event, type: 'session.refreshed_reuse', atMs: hoursAgo(60), userAgent: IPHONE },
  ],
}
