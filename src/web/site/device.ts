import { t } from '../../languages/texts.ts'
import { knownDevice, programName } from '../../lib/device.ts'

/** Makes a readable name for the device behind a `User-Agent`: "Firefox on Linux", "curl", "Unknown device". */
export const deviceName = (userAgent: string): string => {
  const { browser, system } = knownDevice(userAgent)
  if (browser && system) return t('device.name', { browser, system })
  return browser ?? system ?? programName(userAgent) ?? t('device.unknown')
}
