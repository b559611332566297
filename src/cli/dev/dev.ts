import { isIP } from 'node:net'
import { parser, webhookUrl, wholeNumber } from '../../config/parsers.ts'
import { readOrigin } from '../../lib/url.ts'
import { command, option } from '../command/command.ts'

const appOrigin = parser('an origin such as http://localhost:3000, or the port alone', (text) =>
  readOrigin(/^\d{1,5}$/.test(text) ? `http://localhost:${text}` : text),
)

const hostLabel = parser('1 to 40 lower-case letters, digits and hyphens, such as shop', (text) =>
  /^[a-z\d](?:[a-z\d-]{0,38}[a-z\d])?$/.test(text) ? text : undefined,
)

const address = parser('an IP address of this machine, such as 172.17.0.1, or 0.0.0.0 for all', (text) =>
  isIP(text) === 0 ? undefined : text.toLowerCase(),
)

const PORT = 8000

/** For developers and tests alone: nothing of it is loaded by another command. */
export const devCommand = command({
  args: '[command...]',
  text: 'run the whole service beside an application in development: proxy, mailbox, webhooks, provider and users',
  examples: [
    'svc dev --app http://localhost:3000',
    'svc dev --app http://localhost:3000 -- npm run dev',
    'svc dev --port 0 --quiet -- pytest',
  ],
  notes: `A command after -- has SVC_URL, SVC_API_KEY and SVC_WEBHOOK_SECRET in its environment, and svc dev ends with it.
Everything is gone afterwards, unless --data names a folder. Never let others reach it: anybody can sign in as anybody.`,
  options: {
    app: option.parsed('--app <url>', 'origin of the application; svc serves both as one origin', appOrigin),
    port: option.parsed('--port <port>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), PORT),
    data: option.text('--data <folder>', 'keep the data in this folder'),
    name: option.parsed('--name <name>', 'serve at http://NAME.localhost, with cookies of its own', hostLabel),
    listen: option.parsed('--listen <address>', 'listen there too, for backends in containers', address),
    webhook: option.parsed('--webhook <url>', 'pass events on to the application', webhookUrl),
    open: option.flag('--open', 'open a browser'),
    quiet: option.flag('--quiet', 'print nothing but problems'),
  },
  async run({ options, json, environment, loadConfig, endWithParent }, given: string[]) {
    const { open: opensBrowser = false, quiet = false, ...rest } = options
    const { runDev } = await import('./run.ts')
    await runDev({
      options: { ...rest, opensBrowser, quiet, json, command: given },
      environment,
      readConfig: loadConfig,
      endWithParent,
    })
  },
})
