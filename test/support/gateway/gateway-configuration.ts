import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { OTHER_PROGRAMS } from './gateway-packages.ts'

const isNamed = (name: 'Traefik' | 'Envoy'): boolean => OTHER_PROGRAMS[name] !== undefined

/** The gateways that ask svc about each request of the protected part. */
export const ASKING_GATEWAYS = [
  ...(['nginx', 'Caddy', 'HAProxy'] as const),
  ...(['Traefik', 'Envoy'] as const).filter(isNamed),
]

/** The gateways of deploy/ that this machine can run. */
export const GATEWAYS = [...ASKING_GATEWAYS, 'Apache'] as const

/** With the one of the compose files, which only routes. */
export const ALL_GATEWAYS = [...GATEWAYS, 'Caddy of compose'] as const
export type GatewayName = (typeof ALL_GATEWAYS)[number]

/** Ports on 127.0.0.1 in place of those in the files. */
export type Ports = {
  gateway: number
  svc: number
  app: number
  /** Where HAProxy and Traefik ask themselves. */
  check: number
}

/** The file of a gateway's configuration. Some go by the end of its name. */
export const CONFIGURATION = 'configuration.yml'

/** The origin in place of https://example.com. */
export const PUBLIC_ORIGIN = 'http://members.example'
const HOST = new URL(PUBLIC_ORIGIN).host

/** The text of a document below docs/. */
export const readDocument = (document: string): string =>
  readFileSync(new URL(`../../../docs/${document}`, import.meta.url), 'utf8')

/** The only code block of a language in a document. */
export const documentedBlock = (language: string, document: string): string => {
  const blocks = [...readDocument(document).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))]
  const [, block] = blocks[0] ?? []
  if (block === undefined || blocks.length > 1) throw new Error(`docs/${document} has not one block of ${language}`)
  return block
}

/** The text of a file below deploy/. */
const readDeploy = (file: string): string => readFileSync(new URL(`../../../deploy/${file}`, import.meta.url), 'utf8')

/** Replaces a text that must be in the configuration. */
export const replaced = (text: string, from: string, to: string): string => {
  if (!text.includes(from)) throw new Error(`the configuration does not hold ${JSON.stringify(from)}`)
  return text.replaceAll(from, to)
}

const withBackends = (text: string, { svc, app }: Ports): string =>
  replaced(replaced(text, '127.0.0.1:8080', `127.0.0.1:${svc}`), '127.0.0.1:3000', `127.0.0.1:${app}`)

/** The gateways that write a file call it `access.log`. */
const logIn = (folder: string, documented: string, text: string): string => replaced(text, documented, folder)

const nginx = (ports: Ports, folder: string): string => {
  const server = readDeploy('nginx/svc.conf')
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

const withCaddyOptions = (text: string): string =>
  text.replace(/^\{$/m, '{\n\tadmin off\n\tauto_https off\n\tdefault_bind 127.0.0.1')

const caddy = (ports: Ports, folder: string): string => {
  const text = logIn(folder, '/var/log/caddy', withBackends(readDeploy('caddy/Caddyfile'), ports))
  return withCaddyOptions(replaced(text, '\nexample.com {', `\nhttp://:${ports.gateway} {`))
}

const caddyOfCompose = ({ gateway, svc, app }: Ports): string => {
  const text = replaced(readDeploy('compose/Caddyfile'), '{$DOMAIN} {', `http://:${gateway} {`)
  const replicas = /dynamic a \{[^}]*\}/.exec(text)?.[0] ?? ''
  const withSvc = replaced(text, replicas, `to 127.0.0.1:${svc}`)
  return withCaddyOptions(replaced(withSvc, 'application:3000', `127.0.0.1:${app}`))
}

/** The path of a file below deploy/. */
const pathInDeploy = (file: string): string => fileURLToPath(new URL(`../../../deploy/${file}`, import.meta.url))

const haproxy = (ports: Ports): string => {
  const svcLua = pathInDeploy('haproxy/svc.lua')
  const text = replaced(withBackends(readDeploy('haproxy/haproxy.cfg'), ports), '/etc/haproxy/svc.lua', svcLua)
  return replaced(
    replaced(text, 'bind :80', `bind 127.0.0.1:${ports.gateway}`),
    '127.0.0.1:8079',
    `127.0.0.1:${ports.check}`,
  )
}

/** As in Debian's `apache2.conf`. */
const COMBINED = String.raw`LogFormat "%h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" combined`

const apache = (ports: Ports, folder: string): string => {
  const text = logIn(folder, '/var/log/apache2', withBackends(readDeploy('apache/svc.conf'), ports))
  const modules = ['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http', 'rewrite', 'lua']
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
${replaced(replaced(text, 'https://example.com', PUBLIC_ORIGIN), '/etc/apache2/svc.lua', pathInDeploy('apache/svc.lua'))}</VirtualHost>
`
}

/** The static configuration stands in a file beside it, and has only ports. */
const traefik = (ports: Ports, folder: string): string => {
  const dynamic = replaced(
    withBackends(readDeploy('traefik/dynamic.yml'), ports),
    'Host(`example.com`)',
    `(Host(\`${HOST}\`) || Host(\`localhost\`))`,
  )
  const [documented, itself] = ['127.0.0.1:8079', `127.0.0.1:${ports.check}`]
  const text = replaced(readDeploy('traefik/traefik.yml'), '":80"', `"127.0.0.1:${ports.gateway}"`)
  const leading = replaced(text, '/etc/traefik/dynamic.yml', path.join(folder, CONFIGURATION))
  writeFileSync(path.join(folder, 'static.yml'), replaced(leading, documented, itself))
  return replaced(dynamic, documented, itself)
}

const envoy = (ports: Ports): string => {
  const text = replaced(
    readDeploy('envoy/envoy.yml'),
    '0.0.0.0, port_value: 80 }',
    `127.0.0.1, port_value: ${ports.gateway} }`,
  )
  return replaced(
    replaced(text, 'port_value: 8080', `port_value: ${ports.svc}`),
    'port_value: 3000',
    `port_value: ${ports.app}`,
  )
}

/** The configuration of deploy/, with other ports and folders, and no other change. */
export const gatewayConfiguration: Record<GatewayName, (ports: Ports, folder: string) => string> = {
  nginx,
  Caddy: caddy,
  HAProxy: haproxy,
  Traefik: traefik,
  Envoy: envoy,
  Apache: apache,
  'Caddy of compose': caddyOfCompose,
}
