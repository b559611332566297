// Runs on SQLite.
import assert from 'node:assert/strict'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { chooseChrome, launchChrome } from '../support/browser/chrome.ts'
import { startDevHere } from '../support/dev/dev.ts'
import { GO_TESTS, PYTHON_PACKAGES } from '../support/examples/examples.ts'
import { canRun, requirePrepared } from '../support/examples/running-example.ts'
import { startProgram } from '../support/gateway/gateway.ts'
import { freePort } from '../support/network/free-port.ts'
import { runSvc } from '../support/service/command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const TESTS: Record<string, string[]> = {
  flask: ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'],
  go: [GO_TESTS, '-test.v'],
}

for (const [name, command] of Object.entries(TESTS).filter(([each]) => canRun(each))) {
  test(`the tests of examples/${name} sign users in, move the clock and empty everything`, async () => {
    const env = { PYTHONPATH: PYTHON_PACKAGES, PYTHONDONTWRITEBYTECODE: '1', HOME: process.env.HOME }
    const args = ['dev', '--port', '0', '--quiet', '--', ...command]
    const { code, stdout, stderr } = await runSvc({ args, cwd: requirePrepared(name), env })
    assert.equal(code, 0, `${stdout}${stderr}`)
    assert.match(stdout, /3 passed|(?:--- PASS: [^]*){3}PASS/)
  })
}

const MADE = ['node_modules', '.next', 'dist']

/** A copy of an example in which a test may change files, with the packages of the prepared one. */
const copyOf = (name: string, t: TestContext): string => {
  const [from, folder] = [requirePrepared(name), temporaryDirectory(t)]
  cpSync(from, folder, { recursive: true, filter: (file) => file === from || !MADE.includes(path.basename(file)) })
  symlinkSync(path.join(from, 'node_modules'), path.join(folder, 'node_modules'))
  return folder
}

if (canRun('express')) {
  test('the tests of examples/express do so in a browser, with Playwright', async (t) => {
    const [folder, port] = [copyOf('express', t), await freePort()]
    // As the README has it, with the browser of these tests, and time for a loaded machine.
    const config = `import config from './playwright.config.js'
const more = { timeout: 120_000, expect: { timeout: 60_000 }, outputDir: process.env.HOME, reporter: 'line' }
export default { ...config, ...more, use: { ...config.use, launchOptions: JSON.parse(process.env.LAUNCH) } }`
    writeFileSync(path.join(folder, 'here.config.js'), config)
    const home = temporaryDirectory(t)
    const env = { HOME: home, LAUNCH: JSON.stringify(await chooseChrome(home)) }
    const command = [process.execPath, 'node_modules/@playwright/test/cli.js', 'test', '--config', 'here.config.js']
    const args = ['dev', '--port', '0', '--quiet', '--app', `http://localhost:${port}`, '--', ...command]
    const { code, stdout, stderr } = await runSvc({ args, cwd: folder, env })
    assert.equal(code, 0, `${stdout}${stderr}`)
    assert.match(stdout, /2 passed/)
  })
}

interface Reloaded {
  name: string
  command: (port: string) => string[]
  /** A file of the example, a text that it shows, and the one that takes its place. */
  file: string
  from: string
  to: string
}

/** Opens the application as a user who is signed in, changes a file of it, and waits until the page shows the change. */
const assertReloads = async (t: TestContext, { name, command, file, from, to }: Reloaded): Promise<void> => {
  const [folder, port] = [copyOf(name, t), await freePort()]
  const dev = await startDevHere({ options: { app: `http://localhost:${port}`, name: 'notes' }, t })
  const env = { NEXT_TELEMETRY_DISABLED: '1', SVC_URL: `http://localhost:${dev.port}` }
  await startProgram([process.execPath, ...command(String(port))], { port, cwd: folder, t, env })
  const browser = await launchChrome()
  t.after(() => browser.close())
  const context = await browser.newContext({ baseURL: dev.url })
  context.setDefaultTimeout(120_000)
  const { cookie } = (await dev.post('/auth/dev/sign-in', { email: 'ada@example.com' })).json<{ cookie: string }>()
  const pairs = cookie.split('; ').map((pair) => pair.split('='))
  await context.addCookies(pairs.map(([key = '', value = '']) => ({ name: key, value, url: dev.url })))
  const page = await context.newPage()
  await page.goto('/')
  await page.getByText(from).waitFor()
  // A page that was loaded again would not know it.
  await page.evaluate('window.isTheSame = true')
  const source = path.join(folder, file)
  const text = readFileSync(source, 'utf8')
  assert.ok(text.includes(from))
  writeFileSync(source, text.replace(from, to))
  await page.getByText(to).waitFor()
  assert.equal(await page.evaluate('window.isTheSame'), true)
}

if (canRun('vite')) {
  test('hot reloading of Vite goes through svc dev, with the user signed in', (t) =>
    assertReloads(t, {
      name: 'vite',
      command: (port) => ['node_modules/vite/bin/vite.js', '--port', port, '--strictPort'],
      file: 'src/notes.jsx',
      from: 'Log out',
      to: 'Leave',
    }))
}

if (canRun('nextjs')) {
  test('hot reloading of Next.js goes through svc dev, with the user signed in', (t) =>
    assertReloads(t, {
      name: 'nextjs',
      // Turbopack follows no link out of the folder.
      command: (port) => ['node_modules/next/dist/bin/next', 'dev', '--webpack', '-p', port],
      file: 'app/greeting.jsx',
      from: 'Your notes',
      to: 'All notes',
    }))
}
