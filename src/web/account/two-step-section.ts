import { t } from '../../languages/texts.ts'
import { html } from '../../lib/html.ts'
import { RECOVERY_CODES } from '../../second-factor/recovery-code-sets.ts'
import { csrfInput } from '../site/form.ts'
import { icon } from '../site/icon.ts'
import type { SecondFactorSectionView } from './account-view.ts'
import type { AccountRow, Section } from './rows.ts'

const PAGE = '/auth/account/second-factor'

const appRow = (hasApp: boolean): AccountRow => ({
  icon: icon('app'),
  title: t('authenticator.title'),
  badge: hasApp ? { text: t('account.two_step.on') } : { text: t('account.two_step.off'), isPlain: true },
  state: t(hasApp ? 'authenticator.on_about' : 'account.two_step.about'),
  action: {
    kind: 'leads',
    label: t(hasApp ? 'account.two_step.manage' : 'account.row.set_up'),
    name: t(hasApp ? 'account.two_step.app_label' : 'authenticator.set_up_title'),
    href: PAGE,
  },
})

const codesRow = (left: number): AccountRow => ({
  icon: icon('codes'),
  title: t('recovery.title'),
  state: left === 0 ? t('recovery.left_none') : t.plural('recovery.left', left, { total: RECOVERY_CODES }),
  action: { kind: 'leads', label: t('recovery.renew'), href: PAGE },
})

const browsersRow = ({ csrfToken, trustedBrowsers }: SecondFactorSectionView): AccountRow => ({
  icon: icon('trusted'),
  title: t('account.trusted.title'),
  state: t.plural('account.trusted.count', trustedBrowsers),
  action: {
    kind: 'sends',
    form: html`<form method="post" action="/auth/account/browsers">
${csrfInput(csrfToken)}<button class="svc-button second small" name="forget_trusted" value="1" aria-label="${t('account.trusted.forget_label')}">${t('account.trusted.forget')}</button>
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
    title: t('account.two_step.title'),
    formerId: 'second-factor',
    rows: rows.filter((row) => row !== false),
  }
}
