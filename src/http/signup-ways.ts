import type { RouteDeps } from './deps.ts'

/** How a visitor can create an account. */
export const signupWays = ({ signup, providers }: Pick<RouteDeps, 'signup' | 'providers'>) => {
  const byPassword = signup === 'on'
  return { byPassword, isOpen: byPassword || (signup === 'providers' && providers.length > 0) }
}
