import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Config, defaultBaseUrl } from '../config/config.ts'
import { frameSettings, messageBranding, settingsOfSubjects } from '../config/subject-settings.ts'
import { inLanguage } from '../languages/language.ts'
import { languageName, type Languages } from '../languages/languages.ts'
import { AppError } from '../lib/errors.ts'
import { html } from '../lib/html.ts'
import { renderMessage } from '../mail/messages/render.ts'
import { MESSAGES } from './messages.ts'
import { createFrame } from '../web/site/frame.ts'
import { createAllPages } from './pages.ts'
import { usualTexts } from './sample.ts'
import { statesOf } from './states.ts'

/** The preview of one language and colour scheme. */
interface Part {
  tag: string
  scheme: 'light' | 'dark'
}

interface Written {
  /** This is the path of the file to begin with. */
  index: string
  pages: number
  messages: number
}

/** Makes the name of a file from that of a state. */
const fileOf = (name: string): string =>
  `${name
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .replaceAll(/^-|-$/g, '')}.html`

const requireEmpty = (folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true })
    if (readdirSync(folder).length === 0) return
  } catch (error) {
    throw new AppError('invalid_request', `${folder} cannot be used (${(error as NodeJS.ErrnoException).code})`)
  }
  throw new AppError('conflict', `${folder} is not empty: name a folder that is, or that does not exist yet`)
}

/**
 * Makes the page work as a file: its own files are beside it, images of the application are at its address, and links
 * and forms lead nowhere. Values are escaped, so that these attributes stand in tags alone.
 */
const asFile = (page: string, baseUrl: string): string =>
  page
    .replaceAll(/ (href|src)="\/auth\/assets\//g, ' $1="../../assets/')
    .replaceAll(/ (src|srcset|rel="icon" href)="\/(?!\/)/g, ` $1="${baseUrl}/`)
    .replaceAll(/ (href|action|formaction)="(?!\.\.\/|#|https?:|mailto:)[^"]*"/g, ' $1="#"')

interface Entry {
  /** The file is in the folder of the part. */
  file: string
  name: string
}

const INDEX_STYLE = html`<style>
:root { color-scheme: light dark; font: 0.875rem/1.5 system-ui, sans-serif }
body { display: grid; grid-template-columns: 20rem 1fr; height: 100vh; margin: 0 }
nav { overflow: auto; padding: 1rem }
iframe { width: 100%; height: 100%; border: 0; border-inline-start: 1px solid }
ul { padding: 0; list-style: none }
</style>`

const titleOf = ({ tag, scheme }: Part): string => `${languageName(tag)}, ${scheme}`

/** Makes the page to click through: a list on one side, and what was clicked on the other. */
const indexOf = (part: Part, others: readonly Part[], pages: readonly Entry[], messages: readonly Entry[]): string => {
  const list = (entries: readonly Entry[]) => html`<ul>
${entries.map(({ file, name }) => html`<li><a href="${file}" target="shown">${name}</a></li>\n`)}</ul>`
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${titleOf(part)}</title>
${INDEX_STYLE}
<nav>
<p>${others.map((one) => html`<a href="../../${one.tag}/${one.scheme}/index.html">${titleOf(one)}</a><br>\n`)}</p>
<h1>${titleOf(part)}</h1>
<h2>Pages</h2>
${list(pages)}
<h2>Messages</h2>
${list(messages)}
</nav>
<iframe name="shown" title="What was chosen" src="${pages[0]?.file}"></iframe>
`.toString()
}

interface Given {
  folder: string
  config: Config
  languages: Languages
}

const writeAll = (folder: string, files: ReadonlyMap<string, string>): void => {
  mkdirSync(folder, { recursive: true })
  for (const [file, content] of files) writeFileSync(path.join(folder, file), content)
}

/** Writes the pages of one part in the language that is spoken, and gives their list. */
const writePages = ({ folder, config, languages }: Given, { tag, scheme }: Part): Entry[] => {
  const baseUrl = config.baseUrl ?? defaultBaseUrl(config.port)
  const settings = { ...frameSettings(config, baseUrl), colorScheme: scheme, languages }
  const frame = createFrame(settings)
  const pages = createAllPages(settings, frame)
  const shown = (page: string): string =>
    asFile(languages.offered.length > 1 ? frame.withPicker(page, { csrfToken: '', returnTo: '/' }) : page, baseUrl)
  const states = Object.entries(statesOf(usualTexts(frame.iconOf('google'))))
  const to = path.join(folder, tag, scheme)
  writeAll(to, new Map(states.map(([name, render]) => [fileOf(name), shown(render(pages))])))
  writeAll(path.join(folder, 'assets'), new Map(frame.assets.map((one) => [path.posix.basename(one.path), one.body])))
  return states.map(([name]) => ({ name, file: fileOf(name) }))
}

/** Writes the messages of one part, each with its plain text. */
const writeMessages = ({ folder, config }: Given, { tag, scheme }: Part): Entry[] => {
  const branding = { ...messageBranding(config, config.baseUrl ?? defaultBaseUrl(config.port)), colorScheme: scheme }
  const files = [...MESSAGES].map(([name, message]) => ({ name, ...renderMessage(message, branding) }))
  writeAll(
    path.join(folder, tag, scheme, 'mail'),
    new Map(
      files.flatMap(({ name, text, html: page }) => [[`${name}.html`, page] as const, [`${name}.txt`, text] as const]),
    ),
  )
  return files.flatMap(({ name, subject }) => [
    { name: subject, file: `mail/${name}.html` },
    { name: `${subject} (text)`, file: `mail/${name}.txt` },
  ])
}

/** Writes all pages and messages to a folder. `conflict` where it is not empty, `invalid_request` where it cannot be. */
export const writePreview = (config: Config, folder: string): Written => {
  const { languages } = settingsOfSubjects(config)
  const schemes = config.colorScheme === 'auto' ? (['light', 'dark'] as const) : [config.colorScheme]
  const parts = languages.offered.flatMap((tag) => schemes.map((scheme): Part => ({ tag, scheme })))
  requireEmpty(folder)
  const written = { index: path.join(folder, 'index.html'), pages: 0, messages: 0 }
  for (const part of parts)
    inLanguage(languages.get(part.tag), () => {
      const given = { folder, config, languages }
      const [pages, messages] = [writePages(given, part), writeMessages(given, part)]
      writeAll(
        path.join(folder, part.tag, part.scheme),
        new Map([['index.html', indexOf(part, parts, pages, messages)]]),
      )
      written.pages += pages.length
      written.messages += messages.length / 2
    })
  const list = parts.map((part) => html`<p><a href="${part.tag}/${part.scheme}/index.html">${titleOf(part)}</a></p>\n`)
  writeAll(
    folder,
    new Map([
      ['index.html', html`<!doctype html>\n<meta charset="utf-8">\n<title>svc preview</title>\n${list}`.toString()],
    ]),
  )
  return written
}
