// Runs on SQLite.
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { launchChrome } from '../support/browser/chrome.ts'
import { startSite } from '../support/browser/site.ts'
import { visitSite } from '../support/browser/site-visitor.ts'

const site = await startSite()
const browser = await launchChrome()
after(() => browser.close())

beforeEach(() => {
  site.received = []
  site.renewals = []
  site.gate = () => Promise.resolve()
})

/** Renewals wait until the test opens the gate. */
const openLater = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  site.gate = () => promise
  return { open: resolve }
}

const arrived = (page: Page) => page.locator('#answer').waitFor()

const NOTE = `<form method="post" action="/notes" enctype="multipart/form-data">
  <input name="title"><textarea name="text"></textarea><input type="file" name="file">
  <button name="do" value="draft">Draft</button><button name="do" value="publish">Publish</button></form>`

const fillNote = async (page: Page): Promise<void> => {
  await page.locator('[name=title]').fill('Größe')
  await page.locator('[name=text]').fill('One\nTwo & three')
  const buffer = Buffer.from('the file')
  await page.locator('[name=file]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer })
}

const FILLED_NOTE = [
  ['title', 'Größe'],
  ['text', 'One\r\nTwo & three'],
  ['file', 'a.txt: the file'],
  ['do', 'publish'],
]

/** Counts the events that a page of the application sees, at each place where it may listen. */
const LISTENERS = `<script>
  window.seen = { form: 0, document: 0, capture: 0, window: 0 }
  addEventListener('DOMContentLoaded', () => {
    document.forms[0].addEventListener('submit', () => seen.form++)
    document.addEventListener('submit', () => seen.document++)
    document.addEventListener('submit', () => seen.capture++, true)
    addEventListener('submit', () => seen.window++)
    addEventListener('pagehide', () => sessionStorage.setItem('seen', JSON.stringify(seen)))
  })
</script>`

const seenBy = async (page: Page): Promise<unknown> =>
  JSON.parse(String(await page.evaluate("sessionStorage.getItem('seen')")))

const ONCE = { form: 1, document: 1, capture: 1, window: 1 }

test('§4.14 a form that was filled in past the real end of a short access token arrives', async (t) => {
  const short = await startSite({ env: { SVC_ACCESS_TOKEN_TTL: '2s' } })
  const visitor = await visitSite(browser, short, t)
  // The cookies came by another client: a renewal gives them their real end.
  const page = await visitor.open(LISTENERS + NOTE)
  await visitor.letTokenExpire()
  await page.reload()
  await page.waitForFunction("document.cookie.includes('svc_fresh=1')")
  await fillNote(page)
  while ((await visitor.cookie('svc_access')) !== undefined) await sleep(100)
  assert.equal(await visitor.cookie('svc_fresh'), undefined)
  await page.locator('text=Publish').click()
  await arrived(page)
  assert.deepEqual(short.received, [{ method: 'POST', path: '/notes', userStatus: 200, fields: FILLED_NOTE }])
  assert.deepEqual(short.renewals, [200, 200])
  assert.deepEqual(await seenBy(page), ONCE)
})

describe('§4.14 a form that is sent without a fresh access token', () => {
  test('arrives whole, after one renewal and one event', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(LISTENERS + NOTE)
    await fillNote(page)
    await visitor.letTokenExpire()
    await page.locator('text=Publish').click()
    await arrived(page)
    assert.deepEqual(site.received, [{ method: 'POST', path: '/notes', userStatus: 200, fields: FILLED_NOTE }])
    assert.deepEqual(site.renewals, [200])
    assert.deepEqual(await seenBy(page), ONCE)
  })

  test('by the key Enter arrives too, with what was typed during the renewal', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open('<form method="POST"><input name="a"><button name="b" value="c">Go</button></form>')
    await visitor.letTokenExpire()
    const gate = openLater()
    await page.locator('[name=a]').fill('one')
    await page.locator('[name=a]').press('Enter')
    await page.locator('[name=a]').fill('two')
    gate.open()
    await arrived(page)
    const fields = [
      ['a', 'two'],
      ['b', 'c'],
    ]
    assert.deepEqual(site.received, [{ method: 'POST', path: new URL(page.url()).pathname, userStatus: 200, fields }])
  })

  test('is sent once, however often its buttons are pressed during the renewal', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(LISTENERS + NOTE)
    await fillNote(page)
    await visitor.letTokenExpire()
    const gate = openLater()
    await page.locator('text=Publish').dblclick()
    await page.locator('text=Draft').click()
    await page.locator('[name=title]').press('Enter')
    assert.deepEqual(await page.evaluate('seen'), { form: 0, document: 0, capture: 0, window: 0 })
    gate.open()
    await arrived(page)
    assert.deepEqual(
      site.received.map(({ fields }) => fields),
      [FILLED_NOTE],
    )
    assert.deepEqual([site.renewals, await seenBy(page)], [[200], ONCE])
  })

  test('goes where its button says: formaction, formmethod', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page =
      await visitor.open(`<form action="https://elsewhere.example/" target="_blank"><input name="a" value="1">
      <button formaction="/here" formmethod="post" formtarget="_self" name="b" value="2">Go</button></form>`)
    await visitor.letTokenExpire()
    await page.locator('button').click()
    await arrived(page)
    const fields = [
      ['a', '1'],
      ['b', '2'],
    ]
    assert.deepEqual(site.received, [{ method: 'POST', path: '/here', userStatus: 200, fields }])
    assert.deepEqual(site.renewals, [200])
  })

  test('may have fields that hide what a form has', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const names = ['method', 'action', 'target', 'submit', 'requestSubmit', 'getAttribute', 'isConnected', 'form']
    const inputs = names.map((name) => `<input name="${name}" value="x">`).join('')
    const page = await visitor.open(`<form method="post" action="/here">${inputs}<button>Go</button></form>`)
    await visitor.letTokenExpire()
    // Playwright needs these properties of the form itself.
    await page.evaluate("document.querySelector('button').click()")
    await arrived(page)
    const fields = names.map((name) => [name, 'x'])
    assert.deepEqual(site.received, [{ method: 'POST', path: '/here', userStatus: 200, fields }])
  })

  test('has the name of a button that the page disables after the click', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(`<script>addEventListener('click', ({ target }) => {
      if (target.type === 'submit') setTimeout(() => { target.disabled = true })
    })</script><form method="post" action="/here"><button name="a" value="b">Go</button></form>`)
    await visitor.letTokenExpire()
    const gate = openLater()
    await page.locator('button').click()
    await page.locator('button:disabled').waitFor()
    gate.open()
    await arrived(page)
    assert.deepEqual(site.received[0]?.fields, [['a', 'b']])
  })

  test('is handed to a handler of the application that sends it by itself', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page =
      await visitor.open(`<form method="post" action="/here"><input name="a" value="b"><button>Go</button></form>
      <script>document.forms[0].addEventListener('submit', (event) => {
        event.preventDefault()
        fetch('/by-script', { method: 'POST', body: new FormData(event.target) }).then(() => { document.title = 'Sent' })
      })</script>`)
    await visitor.letTokenExpire()
    await page.locator('button').click()
    await page.waitForFunction("document.title === 'Sent'")
    assert.deepEqual(site.received, [{ method: 'POST', path: '/by-script', userStatus: 200, fields: [['a', 'b']] }])
  })

  for (const [policy, tag] of [
    ["script-src 'self'", undefined],
    ["script-src 'nonce-abc'", '<script src="/auth/session.js" defer nonce="abc"></script>'],
  ] as const) {
    test(`arrives under a strict policy: ${policy}`, async (t) => {
      const visitor = await visitSite(browser, site, t)
      const headers = {
        'content-security-policy': `default-src 'none'; ${policy}; connect-src 'self'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'`,
      }
      const page = await visitor.open(
        '<form method="post" action="/here"><button name="a" value="b">Go</button></form>',
        {
          headers,
          ...(tag && { tag }),
        },
      )
      await visitor.letTokenExpire()
      await page.locator('button').click()
      await arrived(page)
      assert.deepEqual([site.received[0]?.userStatus, site.renewals], [200, [200]])
    })
  }
})

describe('§4.14 the script leaves alone', () => {
  const untouched: [name: string, form: string, path: string][] = [
    ['a form by GET', '<form action="/here"><button>Go</button></form>', '/here?'],
    ['a button by GET', '<form method="post" action="/here"><button formmethod="get">Go</button></form>', '/here?'],
    ['a link', '<a href="/here"><button type="button">Go</button></a>', '/here'],
  ]
  for (const [name, form, path] of untouched) {
    test(name, async (t) => {
      const visitor = await visitSite(browser, site, t)
      const page = await visitor.open(form)
      await visitor.letTokenExpire()
      await page.locator('button').click()
      await arrived(page)
      assert.equal(page.url(), `${site.url}${path}`)
      assert.deepEqual(site.renewals, [])
    })
  }

  test('forms for other origins and other windows', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page =
      await visitor.open(`<form method="post" action="https://elsewhere.example/a"><button>One</button></form>
      <form method="post" action="/here" target="other"><button>Two</button></form>
      <form method="post" action="/here"><button formtarget="_blank">Three</button></form>
      <form method="post" action="http://["><button>Four</button></form>
      <script>
        window.prevented = []
        addEventListener('submit', (event) => { prevented.push(event.defaultPrevented); event.preventDefault() })
      </script>`)
    await visitor.letTokenExpire()
    for (const name of ['One', 'Two', 'Three', 'Four']) await page.locator(`text=${name}`).click()
    assert.deepEqual(await page.evaluate('prevented'), [false, false, false, false])
    assert.deepEqual(site.renewals, [])
  })

  test('an event that a script has made', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open('<form method="post" action="/here"><button>Go</button></form>')
    await visitor.letTokenExpire()
    const passes = `document.forms[0].dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }))`
    assert.equal(await page.evaluate(passes), true)
    assert.deepEqual([site.renewals, site.received], [[], []])
  })

  test('everything, where there is no session', async (t) => {
    const visitor = await visitSite(browser, site, t)
    await visitor.context.clearCookies()
    const page = await visitor.open('<form method="post" action="/here"><button>Go</button></form>')
    await page.locator('button').click()
    await arrived(page)
    assert.deepEqual([site.received.length, site.received[0]?.userStatus, site.renewals], [1, 401, []])
  })
})

const WATCH = `<script>
  window.announced = []
  document.addEventListener('svc:signed-out', (event) => {
    announced.push(event.detail.form ? event.detail.form.id : null)
    if (window.stay) event.preventDefault()
  })
</script>`

describe('§4.14 a form of a user who is signed out', () => {
  const FORM = '<form id="note" method="post" action="/notes"><input name="a"><button>Go</button></form>'

  test('says so, and stays with its fields if the page wants that', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(WATCH + FORM)
    await page.locator('input').fill('typed')
    await visitor.agent.post('/auth/logout')
    await visitor.letTokenExpire()
    await page.evaluate('window.stay = true')
    await page.locator('button').click()
    await page.waitForFunction('announced.length > 0')
    assert.deepEqual(await page.evaluate('announced'), ['note'])
    assert.equal(await page.locator('input').inputValue(), 'typed')
    assert.deepEqual([site.renewals, site.received], [[401], []])
    assert.equal(await visitor.cookie('svc_session'), undefined)
  })

  test('goes on if the page has nothing against it', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(WATCH + FORM)
    await visitor.agent.post('/auth/logout')
    await visitor.letTokenExpire()
    await page.locator('button').click()
    await arrived(page)
    assert.deepEqual([site.renewals, site.received.length, site.received[0]?.userStatus], [[401], 1, 401])
  })
})

const send = async (page: Page, sessionOf: () => Promise<string | undefined>): Promise<void> => {
  await page.locator('button').click()
  await arrived(page)
  assert.equal(site.received.length, 1)
  assert.equal(await page.evaluate("sessionStorage.getItem('announced')"), '0')
  assert.equal(await sessionOf(), '1', 'nobody is signed out')
}

describe('§4.14 an outage lets the form go on in silence', () => {
  const FORM = `${WATCH}<form id="note" method="post" action="/notes"><button>Go</button></form>
    <script>addEventListener('pagehide', () => sessionStorage.setItem('announced', announced.length))</script>`

  test('where the connection is cut', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(FORM)
    await visitor.letTokenExpire()
    site.gate = () => Promise.reject(new Error('the connection is cut'))
    await send(page, () => visitor.cookie('svc_session'))
  })

  test('where no answer comes within three seconds', async (t) => {
    const visitor = await visitSite(browser, site, t)
    const page = await visitor.open(FORM)
    await visitor.letTokenExpire()
    const gate = openLater()
    t.after(() => gate.open())
    await send(page, () => visitor.cookie('svc_session'))
    assert.deepEqual(site.renewals, [])
  })
})

test('§4.14 a form that was waiting as the user left the page is not sent when they come back', async (t) => {
  const visitor = await visitSite(browser, site, t)
  const page = await visitor.open('<form method="post" action="/notes"><button>Go</button></form>')
  await visitor.letTokenExpire()
  const gate = openLater()
  await page.locator('button').click()
  await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
  gate.open()
  await page.waitForFunction("document.cookie.includes('svc_fresh')")
  await page.evaluate('svcSession.fresh()')
  assert.deepEqual(site.received, [])
})
