// `npm run gateways` installs the proxies for the tests in test/gateways/, as `npm test` does.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { GATEWAY_PACKAGES, missingPrograms, OTHER_PROGRAMS } from '../test/support/gateway/gateway-packages.ts'

const INSTALL = fileURLToPath(new URL('install-packages.sh', import.meta.url))
const COMMAND = `apt-get install --no-install-recommends ${GATEWAY_PACKAGES.join(' ')}`
const HOW_TO_GET_THEM = `On Debian 12, as root: ${COMMAND}`

const isRootOnDebian = (): boolean => process.getuid?.() === 0 && existsSync('/etc/debian_version')

const install = (): void => {
  console.log(`Installing the packages of the gateway tests: ${GATEWAY_PACKAGES.join(' ')}`)
  const { status, stdout, stderr, error } = spawnSync(INSTALL, GATEWAY_PACKAGES, { encoding: 'utf8' })
  if (status === 0 && missingPrograms().length === 0) return
  throw new Error(
    `The packages of the gateway tests could not be installed. Install them by hand (${COMMAND}), or run the tests ` +
      `without them (SVC_TEST_GATEWAYS=off).\n${error?.message ?? ''}${stdout}${stderr}`,
  )
}

/**
 * Installs missing packages as root on Debian, so that the gateway tests can run; throws when the installation fails.
 * Elsewhere it returns the reason why the tests cannot run, or undefined when they can.
 */
export const prepareGateways = (): string | undefined => {
  if (process.env.SVC_TEST_GATEWAYS === 'off') return 'The gateway tests did not run: SVC_TEST_GATEWAYS is off.'
  const missing = missingPrograms()
  if (missing.length === 0) return undefined
  if (!isRootOnDebian()) {
    return `The gateway tests did not run: ${missing.join(', ')} missing on this machine. ${HOW_TO_GET_THEM}`
  }
  install()
  return undefined
}

/** What to say about the gateways that Debian does not have, where the environment names no program of them. */
export const withoutProgram = (): string[] => {
  const missing = Object.entries(OTHER_PROGRAMS).flatMap(([name, program]) => (program === undefined ? [name] : []))
  if (missing.length === 0) return []
  const settings = missing.map((name) => `SVC_TEST_${name.toUpperCase()}`)
  return [
    `Not tried: ${missing.join(' and ')}, which Debian does not have. ${settings.join(' and ')} can name a program.`,
  ]
}

if (import.meta.main) console.log(prepareGateways() ?? 'The gateway tests can run.')
