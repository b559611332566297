import { readFileSync } from 'node:fs'

/** The gateways that docs/integrate.md configures. */
export const GATEWAYS = ['nginx', 'Caddy', 'HAProxy', 'Apache'] as const
export type GatewayName = (typeof GATEWAYS)[number]

/** Ports on 127.0.0.1 in place of those in the documents. */
export type Ports = { gateway: number; svc: number; app: number }

/** The origin in place of https://example.com. */
export const PUBLIC_ORIGIN = 'http://members.example'

/** The text of a document below docs/. */
export const readDocument = (document: string): string =>
  readFileSync(new URL(`../../../docs/${document}`, import.meta.url), 'utf8')

/** The code blocks of one language in a document, in order. */
const documentedBlocks = (language: string, document = 'integrate.md'): string[] =>
  [...readDocument(document).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, block = '']) => block,
  )

/** The only code block of a language in a document. */
export const documentedBlock = (language: string, document = 'integrate.md'): string => {
  const [block, ...more] = documentedBlocks(language, document)
  if (block === undefined || more.length > 0) throw new Error(`docs/${document} has not one block of ${language}`)
  return block
}

/** Replaces a text that must be in the document. */
export const replaced = (text: string, from: string, to: string): string => {
  if (!text.includes(from)) throw new Error(`the documented configuration does not hold ${JSON.stringify(from)}`)
  return text.replaceAll(from, to)
}

const withBackends = (text: string, { svc, app }: Ports): string =>
  replaced(replaced(text, '127.0.0.1:8080', `127.0.0.1:${svc}`), '127.0.0.1:3000', `127.0.0.1:${app}`)

/** The gateways that write a file call it `access.log`. */
const logIn = (folder: string, documented: string, text: string): string => replaced(text, documented, folder)

const nginx = (ports: Ports, folder: string): string => {
  const [base, gate, ...more] = documentedBlocks('nginx')
  if (base === undefined || gate === undefined || more.length > 0) throw new Error('docs/integrate.md: nginx')
  const server = base.replace(/\}\s*$/, `${gate}}\n`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
${replaced(logIn(folder, '/var/log/nginx', withBackends(server, ports)), 'listen 80;', `listen 127.0.0.1:${ports.gateway};`)}}
`
}

const caddy = (ports: Ports, folder: string): string => `{
  admin off
  auto_https off
  default_bind 127.0.0.1
}
${replaced(logIn(folder, '/var/log/caddy', withBackends(documentedBlock('caddy'), ports)), 'example.com', `http://:${ports.gateway}`)}`

const haproxy = (ports: Ports): string =>
  replaced(withBackends(documentedBlock('haproxy'), ports), 'bind :80', `bind 127.0.0.1:${ports.gateway}`)

/** As in Debian's `apache2.conf`. */
const COMBINED = String.raw`LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" combined`

const apache = (ports: Ports, folder: string): string => {
  const modules = ['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'rewrite']
  return `ServerRoot ${folder}
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
User www-data
Group www-data
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog ${folder}/errors
${COMBINED}
Listen 127.0.0.1:${ports.gateway}
<VirtualHost 127.0.0.1:${ports.gateway}>
${replaced(logIn(folder, '/var/log/apache2', withBackends(documentedBlock('apache'), ports)), 'https://example.com', PUBLIC_ORIGIN)}</VirtualHost>
`
}

/** Writes the documented configuration to a file, with other ports and no other change. */
export const gatewayConfiguration: Record<GatewayName, (ports: Ports, folder: string) => string> = {
  nginx,
  Caddy: caddy,
  HAProxy: haproxy,
  Apache: apache,
}
