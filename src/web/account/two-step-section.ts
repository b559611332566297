import { html } from '../../lib/html.ts'
import { csrfInput } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { SecondFactorSectionView } from './account-view.ts'
import { type AccountRow, rowTexts, type Section } from './rows.ts'

const PAGE = '/auth/account/second-factor'

const appRow = (hasApp: boolean): AccountRow => ({
  icon: icon('app'),
  title: twoStepTexts.app,
  badge: hasApp ? { text: twoStepTexts.on } : { text: twoStepTexts.off, isPlain: true },
  state: hasApp ? twoStepTexts.appOn : twoStepTexts.appOff,
  action: { kind: 'leads', label: hasApp ? twoStepTexts.manage : twoStepTexts.setUp, href: PAGE },
})

const codesRow = (left: number): AccountRow => ({
  icon: icon('codes'),
  title: twoStepTexts.codes,
  state: twoStepTexts.codesLeft(left),
  action: { kind: 'leads', label: twoStepTexts.manage, href: PAGE },
})

const browsersRow = ({ csrfToken, trustedBrowsers }: SecondFactorSectionView): AccountRow => ({
  icon: icon('trusted'),
  title: twoStepTexts.browsers,
  state: twoStepTexts.browsersTrusted(trustedBrowsers),
  action: {
    kind: 'sends',
    form: html`<form method="post" action="/auth/account/browsers">
${csrfInput(csrfToken)}<button class="second small" name="forget_trusted" value="1" aria-label="${rowTexts.nameOf(twoStepTexts.forget, twoStepTexts.browsers)}">${twoStepTexts.forget}</button>
</form>`,
  },
})

export const twoStepSection = (view: SecondFactorSectionView): Section => {
  const { hasApp, recoveryCodes, trustedBrowsers } = view
  const rows = [
    hasApp !== undefined && appRow(hasApp),
    recoveryCodes !== undefined && codesRow(recoveryCodes),
    trustedBrowsers > 0 && browsersRow(view),
  ]
  return {
    id: 'two-step',
    title: twoStepTexts.title,
    formerId: 'second-factor',
    rows: rows.filter((row) => row !== false),
  }
}

const twoStepTexts = {
  title: 'Two-step verification',
  app: 'Authenticator app',
  on: 'On',
  off: 'Off',
  appOn: 'You enter a code from it when you log in.',
  appOff: 'A code from your phone when you log in, so nobody gets in without it.',
  setUp: 'Set up',
  manage: 'Manage',
  codes: 'Recovery codes',
  codesLeft: (left: number): string =>
    left === 0 ? 'None left. Make new ones.' : `${left} of 10 left, for the day you lose your phone`,
  browsers: 'Trusted browsers',
  browsersTrusted: (count: number): string =>
    count === 1 ? '1 browser is not asked for a code.' : `${count} browsers are not asked for a code.`,
  forget: 'Forget',
} as const
