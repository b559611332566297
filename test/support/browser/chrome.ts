import { execFile } from 'node:child_process'
import { accessSync, constants, rmSync } from 'node:fs'
import { access, chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'

interface Program {
  executablePath?: string
  channel?: string
  env?: NodeJS.ProcessEnv
}

const HOW_TO_GET_ONE =
  'No browser for the tests: install Google Chrome, or set SVC_TEST_CHROME to the executable of a Chrome or Chromium.'

// The archive has a fixed folder for its fonts. This configuration uses the folder beside it.
const FONTS_CONF =
  '<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>'

const UNPACK = `
  const { default: archive } = await import(process.env.SVC_TEST_CHROME_ARCHIVE)
  await archive.executablePath()
`

const hasBundled = process.platform === 'linux' && process.arch === 'x64'

const canUse = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  )

/**
 * In a separate process, since the archive unpacks to TMPDIR and changes the environment of the process that imports
 * it.
 */
const unpackInto = async (folder: string, archive: string): Promise<void> => {
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', UNPACK], {
    env: {
      ...process.env,
      SVC_TEST_CHROME_ARCHIVE: archive,
      // Also unpacks the shared libraries that a minimal machine lacks.
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x',
      TMPDIR: folder,
    },
  })
  await chmod(join(folder, 'chromium'), 0o755)
  await writeFile(join(folder, 'fonts/fonts.conf'), FONTS_CONF)
}

/** Unpacks beside the packages, once for all test processes: each uses its own folder, and the first rename wins. */
const unpackForAll = async (kept: string, archive: string): Promise<void> => {
  await mkdir(join(kept, '..'), { recursive: true })
  const mine = await mkdtemp(`${kept}.partial-`)
  try {
    await unpackInto(mine, archive)
    await chmod(mine, 0o755)
    await rename(mine, kept).catch(async (error: unknown) => {
      if (!(await canUse(join(kept, 'chromium'), constants.X_OK))) throw error
    })
  } finally {
    await rm(mine, { recursive: true, force: true })
  }
}

const keptFolder = async (archive: string): Promise<string> => {
  const manifest: { version: string } = JSON.parse(await readFile(new URL('../package.json', archive), 'utf8'))
  const cache = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))
  return join(cache, `svc-test-chromium-${manifest.version}`)
}

/** The folder of the unpacked archive: shared if possible, else in `scratch`, which is removed with the browser. */
const unpackedFolder = async (scratch: string): Promise<string> => {
  const archive = import.meta.resolve('@sparticuz/chromium')
  const kept = await keptFolder(archive)
  if (!(await canUse(join(kept, 'chromium'), constants.X_OK))) {
    try {
      await unpackForAll(kept, archive)
    } catch {
      // The packages belong to another user, or are read-only.
      await unpackInto(scratch, archive)
      return scratch
    }
  }
  return kept
}

const bundled = async (scratch: string): Promise<Program> => {
  const folder = await unpackedFolder(scratch)
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      ...process.env,
      FONTCONFIG_PATH: join(folder, 'fonts'),
      HOME: scratch,
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      XDG_CACHE_HOME: scratch,
    },
  }
}

/** How Playwright launches the browser; what it needs beside its archive goes into the folder `scratch`. */
export const chooseChrome = async (scratch: string): Promise<Program> => {
  const own = process.env.SVC_TEST_CHROME
  if (own) {
    accessSync(own, constants.X_OK)
    return { executablePath: own }
  }
  if (hasBundled) return bundled(scratch)
  return { channel: 'chrome' }
}

/** Unpacks the browser from the packages ahead of several files, of which each would do so at the same time. */
export const prepareChrome = async (): Promise<void> => {
  if (process.env.SVC_TEST_CHROME || !hasBundled) return
  const archive = import.meta.resolve('@sparticuz/chromium')
  const kept = await keptFolder(archive)
  // A file that needs it says what is wrong.
  if (!(await canUse(join(kept, 'chromium'), constants.X_OK))) await unpackForAll(kept, archive).catch(() => {})
}

/**
 * Starts a headless browser with an empty profile; the caller closes it. It is the executable in `SVC_TEST_CHROME`, the
 * one from the packages (Linux, x64), or an installed Chrome. Without any of them it throws with an instruction.
 */
export const launchChrome = async ({ args = [] }: { args?: string[] } = {}): Promise<Browser> => {
  const scratch = await mkdtemp(join(tmpdir(), 'svc-test-chrome-'))
  const discard = (): void => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 })
  try {
    const { chromium } = await import('playwright-core')
    const browser = await chromium.launch({ ...(await chooseChrome(scratch)), args })
    process.once('exit', discard)
    browser.once('disconnected', () => {
      process.off('exit', discard)
      discard()
    })
    return browser
  } catch (cause) {
    discard()
    throw new Error(HOW_TO_GET_ONE, { cause })
  }
}
