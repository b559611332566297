// Runs once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownDevice } from '../../src/lib/device.ts'
import { deviceName } from '../../src/web/site/device.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const WINDOWS = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/130.0.0.0 Safari/537.36`
const ANDROID = `Mozilla/5.0 (Linux; Android 14; Pixel 8) ${WEBKIT}`
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)'

const NAMES: Record<string, string> = {
  'Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0': 'Firefox on Linux',
  'Mozilla/5.0 (Android 14; Mobile; rv:131.0) Gecko/131.0 Firefox/131.0': 'Firefox on Android',
  [`${IPHONE} FxiOS/131.0 Mobile/15E148 Safari/605.1.15`]: 'Firefox on iPhone',
  [WINDOWS]: 'Chrome on Windows',
  [`${WINDOWS} Edg/130.0.0.0`]: 'Edge on Windows',
  [`${WINDOWS} OPR/115.0.0.0`]: 'Opera on Windows',
  [`${ANDROID} Chrome/130.0.0.0 Mobile Safari/537.36`]: 'Chrome on Android',
  [`${ANDROID} SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36`]: 'Samsung Internet on Android',
  [`${IPHONE} CriOS/130.0.6723.37 Mobile/15E148 Safari/604.1`]: 'Chrome on iPhone',
  [`${IPHONE} Version/17.5 Mobile/15E148 Safari/604.1`]: 'Safari on iPhone',
  [`${MAC} Version/17.6 Safari/605.1.15`]: 'Safari on macOS',
  [`Mozilla/5.0 (iPad; CPU OS 16_7 like Mac OS X) AppleWebKit/605.1.15 Version/16.6 Safari/604.1`]: 'Safari on iPad',
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/130.0.0.0 Safari/537.36`]: 'Chrome on ChromeOS',
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/153.0.0.0 Safari/537.36`]: 'Chrome on Linux',
  [`${ANDROID} (unknown browser)`]: 'Android',
  'curl/8.5.0': 'curl',
  'python-requests/2.32.3': 'python-requests',
  node: 'Unknown device',
  'Mozilla/5.0': 'Unknown device',
  '': 'Unknown device',
  '<script>/1': 'Unknown device',
}

test('a device has the name that its user would give it', () => {
  for (const [userAgent, name] of Object.entries(NAMES)) assert.equal(deviceName(userAgent), name, userAgent)
})

test('only the beginning of a very long header is read', () => {
  assert.equal(deviceName(`Mozilla/5.0 ${'x'.repeat(8000)} Firefox/131.0 Linux`), 'Unknown device')
})

test('a known device has no text of the request, not even the name of a program', () => {
  assert.deepEqual(knownDevice('Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0'), {
    browser: 'Firefox',
    system: 'Linux',
  })
  for (const userAgent of ['curl/8.5.0', 'evil.example/1', '<b>Firefox</b>', 'Firefox', '']) {
    assert.deepEqual(knownDevice(userAgent), {}, userAgent)
  }
  assert.deepEqual(knownDevice('evil.example/1 Firefox/131.0 \r\nBcc: you@evil.example'), { browser: 'Firefox' })
})
