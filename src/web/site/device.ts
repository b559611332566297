import { knownDevice, programName } from '../../lib/device.ts'
import { texts } from './texts.ts'

/** Makes a readable name for the device behind a `User-Agent`: "Firefox on Linux", "curl", "Unknown device". */
export const deviceName = (userAgent: string): string => {
  const { browser, system } = knownDevice(userAgent)
  if (browser && system) return texts.deviceOn(browser, system)
  return browser ?? system ?? programName(userAgent) ?? texts.deviceUnknown
}
