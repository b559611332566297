/**
 * Loads what requests need and the start does not (`lib/on-demand.ts`), while nothing is asked for: so the first request
 * for a page does not wait for it, and a service whose files are replaced for an update runs on with its own.
 */
export const preload = async (): Promise<void> => {
  await Promise.all([
    import('../pages/pages.ts'),
    import('../accounts/directory/directory.ts'),
    import('../api/v2/list-users.ts'),
    import('../api/v2/find-user.ts'),
    import('../api/v2/create-user.ts'),
    import('../api/v2/change-user.ts'),
    import('../api/v2/delete-user.ts'),
    import('../api/v2/create-link.ts'),
    import('../api/v2/reset-second-factors.ts'),
    import('../api/v2/sessions.ts'),
    import('../api/v2/find-session.ts'),
    import('../api/v2/list-audit.ts'),
    import('../audit/reading.ts'),
    import('./login/login.ts'),
    import('./sign-in-code/login-code.ts'),
    import('./sign-in-code/login-enrol.ts'),
    import('./signup/signup.ts'),
    import('./logout/logout.ts'),
    import('./account/account.ts'),
    import('./reauthentication/reauthentication.ts'),
    import('./sign-in/redirect-signed-in.ts'),
    import('./welcome/welcome.ts'),
    import('./second-factor/second-factor.ts'),
    import('../second-factor/factor-changes.ts'),
    import('./links/forgot-password.ts'),
    import('./links/reset-password.ts'),
    import('./links/verify-email.ts'),
    import('./links/invitation.ts'),
  ])
}
