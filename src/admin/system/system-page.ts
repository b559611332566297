import type { ListedAdministrator } from '../../administrators/administrators.ts'
import type { IndexState } from '../../accounts/directory/user-index.ts'
import type { ApiKey } from '../../api-keys/api-keys.ts'
import { type HttpResponse, redirect } from '../../http/response.ts'
import { type HtmlFragment, html } from '../../lib/html.ts'
import { monotonicClock } from '../../lib/time.ts'
import { findPendingMigrations } from '../../storage/migrations.ts'
import { findReplicas, type SeenReplica } from '../../storage/replicas.ts'
import { csrfInput } from '../../web/site/form.ts'
import type { AdminContext } from '../http/context.ts'
import type { InstallationFinding, ShownSetting } from '../../config/shown-settings.ts'
import type { AdminServices } from '../services.ts'
import { ago, mark, facts, plural, panelSection, things, used } from '../site/parts.ts'

type Services = Pick<
  AdminServices,
  'apiKeys' | 'baseUrl' | 'clock' | 'db' | 'inspection' | 'loadAdministrators' | 'loadUserIndex' | 'site' | 'version'
>

interface Findings {
  atMs: number
  list: readonly InstallationFinding[]
}

/** Looks at the installation, one look at a time. */
export const createExamination = ({
  baseUrl,
  clock,
  inspection,
}: Pick<Services, 'baseUrl' | 'clock' | 'inspection'>) => {
  let latest: Findings | undefined
  let running: Promise<void> | undefined

  const run = async (): Promise<void> => {
    latest = { list: await inspection.examine(baseUrl), atMs: clock.now() }
  }

  return {
    latest: (): Findings | undefined => latest,
    /** Those who ask while it runs wait for the same. */
    async look(): Promise<void> {
      running ??= run().finally(() => {
        running = undefined
      })
      await running
    },
  }
}

/** Shows the installation itself. */
export const createSystemPage = (services: Services) => {
  const { apiKeys, clock, db, inspection, loadAdministrators, loadUserIndex, site, version } = services
  const examination = createExamination(services)
  return {
    page: {
      async handle(context: AdminContext): Promise<HttpResponse> {
        const nowMs = clock.now()
        const startedMs = monotonicClock.elapsedMs()
        const replicas = await findReplicas(db, nowMs)
        const answerMs = Math.max(1, Math.round(monotonicClock.elapsedMs() - startedMs))
        const pending = await findPendingMigrations(db.dialect, db)
        const isMixed = new Set([version, ...replicas.map((replica) => replica.version)]).size > 1
        const body = html`<h1>System</h1>
<p class="state">svc ${version} ${replicas.length > 0 ? `serves in ${plural(replicas.length, 'process', 'processes')}` : 'does not serve now, as far as its database tells'}. The database answers in ${answerMs} ms${pending.length > 0 ? ', and waits for a migration' : ''}.${isMixed && ' Not all processes have the same version.'}</p>
${findingSection(context, examination.latest(), nowMs)}${panelSection('replicas', 'Replicas', replicaThings(replicas, nowMs))}${panelSection(
  'database',
  'Database',
  facts([
    { name: 'Kind', value: db.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL' },
    { name: 'Migrations', value: pending.length > 0 ? `pending: ${pending.join(', ')}` : 'all are applied' },
    { name: 'Search', value: searchText(await (await loadUserIndex()).state(), db.dialect) },
  ]),
)}${panelSection('keys', 'API keys', keyThings(await apiKeys.list(), nowMs))}${panelSection('administrators', 'Administrators', administratorThings(await (await loadAdministrators()).list(), nowMs))}${panelSection('settings', 'Settings in effect', settingFacts(await inspection.listSettings()))}`
        return site.page(context, { title: 'System', tab: 'System', body })
      },
    },

    examine: {
      async handle({ at }: AdminContext): Promise<HttpResponse> {
        await examination.look()
        return redirect(at('/system#findings'))
      },
    },
  }
}

/** With SQLite the index comes by itself, and with PostgreSQL by a command. */
const searchText = ({ has, needed }: IndexState, dialect: AdminServices['db']['dialect']): string => {
  if (has === 'all users') return 'by an index of all users'
  if (has === 'a part') return 'by an index, to which the service adds users now'
  if (!needed) return 'looks at each user: there are few'
  return dialect === 'sqlite'
    ? 'looks at each user; the first search makes the index'
    : 'looks at each user: make the index with svc database index'
}

const findingSection = (context: AdminContext, found: Findings | undefined, nowMs: number): HtmlFragment => {
  const list = (found?.list ?? []).map(({ code, message, cure }) => ({
    title: html`${message}${mark(code, 'bad')}`,
    about: cure,
  }))
  const button = html`<form method="post" action="${context.at('/system/examine')}">${csrfInput(context.csrfToken)}<button class="svc-button second small">${found ? 'Look again' : 'Look for problems'}</button></form>`
  const when = found && html`<span class="about">Looked ${ago(found.atMs, nowMs)}.</span>`
  const empty = found
    ? 'Nothing to complain about.'
    : 'Nobody has looked yet. It takes some seconds, and sends a test event to the receiver of webhooks.'
  return panelSection(
    'findings',
    'What svc doctor finds',
    things(list, empty, html`<div class="head">${when}${button}</div>`),
  )
}

const replicaThings = (replicas: readonly SeenReplica[], nowMs: number): HtmlFragment =>
  things(
    replicas.map(({ id, host, version, startedAtMs, seenAtMs }) => ({
      title: html`<bdi>${host}</bdi>`,
      about: html`svc ${version} · started ${ago(startedAtMs, nowMs)}`,
      more: html`<code>${id}</code>`,
      when: html`seen ${ago(seenAtMs, nowMs)}`,
    })),
    'No process has said in the last five minutes that it serves.',
  )

const keyThings = (keys: readonly ApiKey[], nowMs: number): HtmlFragment =>
  things(
    keys
      .filter(({ revokedAtMs }) => revokedAtMs === undefined)
      .map(({ name, scopes, createdAtMs, expiresAtMs, lastUsedAtMs }) => ({
        title: html`${name}${expiresAtMs !== undefined && expiresAtMs <= nowMs && mark('Expired', 'bad')}`,
        about: html`${scopes.join(' ')} · made ${ago(createdAtMs, nowMs)}`,
        when: used(lastUsedAtMs, nowMs),
      })),
    'There are no API keys.',
  )

const administratorThings = (administrators: readonly ListedAdministrator[], nowMs: number): HtmlFragment =>
  things(
    administrators.map(({ name, email, role, passkeys, lastUsedAtMs, inviteExpiresAtMs }) => ({
      title: html`${name}${mark(role)}${passkeys === 0 && mark(inviteExpiresAtMs === undefined ? 'Cannot come in' : 'Invited')}`,
      about: html`${email} · ${plural(passkeys, 'passkey')}`,
      when: used(lastUsedAtMs, nowMs, 'seen'),
    })),
    'There are none: only operators of this machine help users.',
  )

const FROM = { environment: 'environment', '.env': '.env', default: 'default', unset: 'not set' } as const

const settingFacts = (settings: readonly ShownSetting[]): HtmlFragment =>
  settings.length === 0
    ? html`<p class="about">Shown where svc runs as a command.</p>`
    : html`${listed(settings.filter(isGiven))}<details><summary class="quiet">${plural(settings.filter((each) => !isGiven(each)).length, 'setting')} at the default</summary>
${listed(settings.filter((each) => !isGiven(each)))}</details>`

const isGiven = ({ source }: ShownSetting): boolean => source === 'environment' || source === '.env'

const listed = (settings: readonly ShownSetting[]): HtmlFragment =>
  facts(
    settings.map(({ name, value, source, secret }) => ({
      name: html`<code>${name}</code>`,
      value: html`${secret && value === null && source !== 'unset' ? 'set' : (value ?? '')}`,
      acts: html`<span class="about">${FROM[source]}</span>`,
    })),
    { isWide: true },
  )
