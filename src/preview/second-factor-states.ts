import type { ReauthenticationView } from '../web/reauthentication/reauthentication-page.ts'
import type { AllPages } from './pages.ts'
import type { LoginCodeView, LoginEnrolView } from '../web/sign-in-code/code-page.ts'
import type { FirstFactorView } from '../web/second-factor/first-factor-page.ts'
import type { SecondFactorView } from '../web/second-factor/second-factor-page.ts'
import type { Sample } from './sample.ts'

const tooMany = { kind: 'too_many_attempts', retryAfterSeconds: 95, requestId: 'r-1' } as const

/** The pages of second factors in every state that they can be in, as `states.ts` has the others. */
export const secondFactorStatesOf = (it: Sample): Record<string, (pages: AllPages) => string> => {
  const { text } = it
  const qrCode = [
    [true, false],
    [false, true],
  ]
  const setUp = { secret: text, uri: `otpauth://totp/${text}`, qrCode, sealed: text }
  const code: LoginCodeView = {
    csrfToken: text,
    email: it.email,
    returnTo: text,
    takes: 'both',
    hasPasskeys: true,
    trustMs: 2_592_000_000,
    trusts: true,
    connects: text,
    confirms: false,
    errors: {},
  }
  const enrol: LoginEnrolView = { csrfToken: text, email: it.email, returnTo: text, setUp }
  const factor: SecondFactorView = {
    csrfToken: text,
    email: it.email,
    hasApp: true,
    recoveryCodes: 3,
    isRequired: false,
    returnTo: text,
  }
  const first: FirstFactorView = { csrfToken: text, step: 'ask', email: it.email, returnTo: text }
  const confirm: ReauthenticationView = {
    csrfToken: text,
    email: it.email,
    hasPassword: true,
    providers: [{ name: text, label: it.provider, iconUrl: it.iconUrl }],
    hasPasskeys: true,
    code: 'both',
    codeValue: text,
    returnTo: text,
    acr: 'mfa',
    target: text,
    setsUpNext: false,
    errors: {},
  }

  return {
    'login, a code': (pages) => pages.loginCode(code),
    'login, a code, refused': (pages) => pages.loginCode({ ...code, errors: { code: 'code_wrong' } }),
    'login, a recovery code in place of a code, refused': (pages) =>
      pages.loginCode({ ...code, errors: { recovery_code: 'recovery_code_wrong' } }),
    'login, a code, held up': (pages) => pages.loginCode({ ...code, problem: tooMany }),
    'login, a code to confirm': (pages) =>
      pages.loginCode({ ...code, confirms: true, connects: undefined, trustMs: undefined, hasPasskeys: false }),
    'login, a recovery code': (pages) => pages.loginCode({ ...code, takes: 'recovery_codes', trustMs: 3_600_000 }),
    'login, a passkey alone': (pages) => pages.loginCode({ ...code, takes: undefined, trustMs: undefined }),
    'login, set-up': (pages) => pages.loginEnrol(enrol),
    'login, set-up refused': (pages) => pages.loginEnrol({ ...enrol, setUp: { ...setUp, error: 'first_code_wrong' } }),
    'second factor': (pages) => pages.secondFactor(factor),
    'second factor that is required': (pages) => pages.secondFactor({ ...factor, isRequired: true, recoveryCodes: 0 }),
    'second factor, recovery codes alone': (pages) => pages.secondFactor({ ...factor, hasApp: false }),
    'second factor, set-up': (pages) =>
      pages.secondFactor({ ...factor, hasApp: false, recoveryCodes: undefined, setUp }),
    'second factor, another app': (pages) => pages.secondFactor({ ...factor, setUp }),
    'second factor, set-up refused': (pages) =>
      pages.secondFactor({ ...factor, setUp: { ...setUp, error: 'first_code_wrong' } }),
    'recovery codes': (pages) =>
      pages.recoveryCodes({
        csrfToken: text,
        email: it.email,
        codes: [`${text}1`, `${text}2`],
        sealed: text,
        returnTo: `/${text}`,
        done: 'passkey_added',
      }),
    'link before the first factor': (pages) => pages.firstFactor(first),
    'link before the first factor, sent': (pages) => pages.firstFactor({ ...first, step: 'sent' }),
    'link before the first factor, opened': (pages) => pages.firstFactor({ ...first, step: 'prove', token: text }),
    'link before the first factor, in another browser': (pages) =>
      pages.firstFactor({ ...first, step: 'other_browser' }),
    're-authentication with a code': (pages) => pages.reauthentication(confirm),
    're-authentication with a recovery code, refused': (pages) =>
      pages.reauthentication({ ...confirm, code: 'recovery_codes', errors: { recovery_code: 'recovery_code_wrong' } }),
    're-authentication before a set-up': (pages) =>
      pages.reauthentication({ ...confirm, code: undefined, hasPasskeys: false, setsUpNext: true }),
    'step-up that cannot be done': (pages) => pages.stepUpImpossible(),
  }
}
