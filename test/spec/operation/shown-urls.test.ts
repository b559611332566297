// Runs on SQLite.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signedUp } from '../../support/client/accounts.ts'
import { startWebhookReceiver, status } from '../../support/network/webhook-receiver.ts'
import { startServiceProcess } from '../../support/service/service-process.ts'
import { runCommand } from '../../support/service/warm-command.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const TOKEN = 'hunter2'
const webhookSecret = 'a secret of enough bytes'

describe('URLs are shown without parts that may contain a token', { concurrency: 2 }, () => {
  for (const args of [['config'], ['config', '--json']]) {
    test(`svc ${args.join(' ')}: no query of SVC_WEBHOOK_URL, SVC_LOGO_URL or an icon's URL`, async (t) => {
      const env = {
        SVC_WEBHOOK_URL: `https://hooks.example.com/in?token=${TOKEN}`,
        SVC_WEBHOOK_SECRET: webhookSecret,
        SVC_LOGO_URL: `/logo.svg?sig=${TOKEN}&x=?`,
        SVC_OAUTH_PROVIDERS: 'google',
        SVC_OAUTH_GOOGLE_CLIENT_ID: 'id',
        SVC_OAUTH_GOOGLE_CLIENT_SECRET: 'x',
        SVC_OAUTH_GOOGLE_ICON_URL: `https://cdn.example.com/g.svg?key=${TOKEN}`,
      }
      const { code, stdout, stderr } = await runCommand({ args, cwd: temporaryDirectory(t), env })
      assert.equal(code, 0, stderr)
      assert.ok(!(stdout + stderr).includes(TOKEN), stdout)
      for (const shown of ['https://hooks.example.com/in?…', '/logo.svg?…', 'https://cdn.example.com/g.svg?…'])
        assert.ok(stdout.includes(shown), `${shown}\n${stdout}`)
    })
  }

  test('a setting that is refused is shown without query, fragment, user and password', async (t) => {
    const env = {
      SVC_BASE_URL: `https://ada:${TOKEN}@app.example.com`,
      SVC_WEBHOOK_URL: `https://hooks.example.com/in?token=${TOKEN}#${TOKEN}`,
      SVC_WEBHOOK_SECRET: webhookSecret,
      SVC_LOGO_URL: `ftp://${TOKEN}@cdn.example.com/logo.svg#${TOKEN}`,
      SVC_OAUTH_PROVIDERS: 'corp,github',
      SVC_OAUTH_CORP_CLIENT_ID: 'id',
      SVC_OAUTH_CORP_CLIENT_SECRET: 'x',
      SVC_OAUTH_CORP_ISSUER: `https://id.example.com/realm?token=${TOKEN}`,
      SVC_OAUTH_GITHUB_CLIENT_ID: 'id',
      SVC_OAUTH_GITHUB_CLIENT_SECRET: 'x',
      SVC_OAUTH_GITHUB_ICON_URL: `https://ada:${TOKEN}@cdn.example.com/g.svg`,
    }
    const { code, stdout, stderr } = await runCommand({ args: ['serve'], cwd: temporaryDirectory(t), env })
    assert.equal(code, 78)
    assert.ok(!(stdout + stderr).includes(TOKEN), stderr)
    for (const shown of [
      'SVC_BASE_URL="https://…@app.example.com" ',
      'SVC_WEBHOOK_URL="https://hooks.example.com/in?…" ',
      'SVC_LOGO_URL="ftp://…@cdn.example.com/logo.svg#…" ',
      'SVC_OAUTH_CORP_ISSUER="https://id.example.com/realm?…" ',
      'SVC_OAUTH_GITHUB_ICON_URL="https://…@cdn.example.com/g.svg" ',
    ])
      assert.ok(stderr.includes(shown), `${shown}\n${stderr}`)
  })

  test('svc webhooks and the log: the query is sent, but never shown', async (t) => {
    const receiver = await startWebhookReceiver({ t })
    const env = { SVC_WEBHOOK_URL: `${receiver.url}?token=${TOKEN}`, SVC_WEBHOOK_SECRET: webhookSecret }
    const service = await startServiceProcess({ t, env })
    await signedUp(service)
    const [delivery] = await receiver.received(1)
    assert.ok(delivery)
    const outputs: string[] = []
    const run = async (args: string[]) => {
      const { stdout, stderr } = await service.cli(args)
      outputs.push(stdout + stderr)
      return stdout + stderr
    }
    const shown = `${receiver.url}?…`
    assert.ok((await run(['webhooks', 'test'])).includes(`webhook.test to ${shown}: delivered (204)`))
    assert.ok((await run(['webhooks', 'test', '--json'])).includes(`"url": "${shown}"`))
    receiver.answerWith(status(500))
    assert.ok((await run(['webhooks', 'test'])).includes(`webhook.test to ${shown} was not delivered: answered 500`))
    await run(['webhooks', 'redeliver', delivery.event.id, '--deliver'])
    await run(['webhooks', 'list', '--json'])
    await service.stop()
    for (const text of [...outputs, service.logs()]) assert.ok(!text.includes(TOKEN), text)
  })
})
