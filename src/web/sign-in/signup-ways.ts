import type { RouteDeps } from '../../http/deps.ts'

/** How a visitor can create an account. */
export const signupWays = ({ signup, passwords, providers }: Pick<RouteDeps, 'signup' | 'passwords' | 'providers'>) => {
  const byPassword = signup === 'on' && passwords
  return { byPassword, isOpen: byPassword || (signup !== 'off' && providers.length > 0) }
}
