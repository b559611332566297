import { writePreview } from '../preview/preview.ts'
import { command } from './command/command.ts'

export const previewCommand = command({
  args: '<folder>',
  text: 'write every page and message as HTML files, to look at them',
  examples: ['svc preview /tmp/pages', 'SVC_STYLE_FILE=own.css svc preview /tmp/own'],
  notes:
    'The pages are those of the settings in effect, in every language and colour scheme that these offer. The folder ' +
    'must be empty, or not exist yet. Begin with its index.html.',
  async run(call, folder: string) {
    const { index, pages, messages } = writePreview(call.loadConfig(), folder)
    const line = `${index}: ${pages} pages and ${messages} messages`
    await call.result({ index, pages, messages }, line)
  },
})
