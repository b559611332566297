import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CommandResult } from './command.ts'
import type { Service } from './service.ts'

/** A line of `svc users import` and `svc users export`. */
export type Line = Record<string, unknown>

export type ImportSummary = {
  imported: number
  existing: number
  failed: number
  skipped: number
  not_carried_over: Record<string, number>
}

export const toLines = (lines: Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Writes a file into the folder of the service and returns its name. */
export const writeInput = (service: Service, name: string, content: string | Buffer): string => {
  writeFileSync(path.join(service.directory, name), content)
  return name
}

let files = 0

/** Imports users from a file. */
export const importLines = (service: Service, lines: Line[] | string | Buffer, args: string[] = []) => {
  files += 1
  const name = writeInput(service, `import-${files}.jsonl`, Array.isArray(lines) ? toLines(lines) : lines)
  return service.cli(['users', 'import', name, ...args])
}

/** The same with `--json`, and what it says. */
export const importJson = async (
  service: Service,
  lines: Line[] | string | Buffer,
  args: string[] = [],
): Promise<ImportSummary & CommandResult> => {
  const result = await importLines(service, lines, [...args, '--json'])
  return { ...result, ...(JSON.parse(result.stdout) as ImportSummary) }
}

/** What is wrong with each line, by its number. */
export const problemsOf = ({ stderr }: CommandResult): Map<number, string> =>
  new Map(
    [...stderr.matchAll(/^svc: (?:line|user) (\d+): (.*)$/gm)].map(([, number, text = '']) => [Number(number), text]),
  )

/** All users, as they are exported. */
export const exportLines = async (service: Service, args: string[] = []): Promise<Line[]> => {
  const { code, stdout, stderr } = await service.cli(['users', 'export', ...args])
  if (code !== 0) throw new Error(stderr)
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
}
