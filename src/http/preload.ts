/**
 * Loads what requests need and the start does not (`lib/on-demand.ts`), while nothing is asked for: so the first request
 * for a page does not wait for it, and a service whose files are replaced for an update runs on with its own.
 */
export const preload = async (): Promise<void> => {
  await Promise.all([
    import('../pages/pages.ts'),
    import('../accounts/directory/directory.ts'),
    import('./api/v2/list-users.ts'),
    import('./api/v2/find-user.ts'),
    import('./api/v2/create-user.ts'),
    import('./api/v2/change-user.ts'),
    import('./api/v2/delete-user.ts'),
    import('./api/v2/create-link.ts'),
    import('./api/v2/reset-second-factors.ts'),
    import('./api/v2/sessions.ts'),
    import('./api/v2/find-session.ts'),
    import('./api/v2/list-audit.ts'),
    import('../audit/reading.ts'),
    import('./browser/login.ts'),
    import('./browser/second-factor/login-code.ts'),
    import('./browser/second-factor/login-enrol.ts'),
    import('./browser/signup.ts'),
    import('./browser/logout.ts'),
    import('./browser/account.ts'),
    import('./browser/reauthentication.ts'),
    import('./browser/redirect-signed-in.ts'),
    import('./browser/welcome.ts'),
    import('./browser/second-factor/second-factor.ts'),
    import('../second-factor/factor-changes.ts'),
    import('./browser/recovery/forgot-password.ts'),
    import('./browser/recovery/reset-password.ts'),
    import('./browser/recovery/verify-email.ts'),
    import('./browser/recovery/invitation.ts'),
  ])
}
