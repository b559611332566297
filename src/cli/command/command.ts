import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../../config/config.ts'
import { type Parser, wholeNumber } from '../../config/parsers.ts'
import type { Environment } from '../../config/setting.ts'
import { AppError } from '../../lib/errors.ts'
import { type Listing, print, printJson, printList } from '../terminal/output.ts'
import { type Opened, withCore } from './with-core.ts'

/** `main.ts` passes these to every command. */
export interface CommandContext {
  /** Reads the configuration, of another environment if one is given. Throws `ConfigError`. */
  loadConfig: (environment?: Environment) => Config
  serve: () => Promise<void>
  /** Stops this process, as if it were told, once the process that has started it is gone. */
  endWithParent: () => void
  environment: Environment
  /** It has the names of variables that came from the `.env` file. */
  fromEnvFile: ReadonlySet<string>
}

/** Adds a command, or a group of commands, to its parent under the name that the parent's table gives it. */
export type Entry = (parent: Command, name: string, context: CommandContext) => void

interface OptionRow<Value> {
  /** They are written as in `--limit <count>`. */
  flags: string
  text: string
  /** `earlier` is the value of the same option before, which a repeated one adds to. */
  parse?(text: string, earlier: Value | undefined): Value
  choices?: readonly string[]
  initial?: Value
}

export type ValuesOf<Options> = {
  [Name in keyof Options]: Options[Name] extends OptionRow<infer Value> ? Value : never
}

const orRefuse =
  <Value>({ format, parse }: Parser<Value>) =>
  (text: string): Value => {
    const value = parse(text)
    if (value === undefined) throw new InvalidArgumentError(`It must be ${format}.`)
    return value
  }

/** Lists show at most so many rows. */
export const LIST_LIMIT = wholeNumber(1, 10_000)

/** Splits words that are given one by one, with commas, or both. */
export const splitWords = (texts: string[]): string[] => texts.flatMap((text) => text.split(','))

/** The kinds of options give their values a type. */
export const option = {
  flag: (flags: string, text: string): OptionRow<boolean | undefined> => ({ flags, text }),

  /** The option is true unless its flag, which begins with `--no-`, is given. */
  unless: (flags: string, text: string): OptionRow<boolean> => ({ flags, text }),

  text: (flags: string, text: string): OptionRow<string | undefined> => ({ flags, text }),

  choice: (flags: string, text: string, choices: readonly string[]): OptionRow<string | undefined> => ({
    flags,
    text,
    choices,
  }),

  parsed: <Value, Initial extends Value | undefined = undefined>(
    flags: string,
    text: string,
    parser: Parser<Value>,
    initial?: Initial,
  ): OptionRow<Value | Initial> => ({ flags, text, parse: orRefuse(parser), initial: initial as Initial }),

  /** A repeated option adds to its words. */
  words: (flags: string, text: string): OptionRow<string[] | undefined> => ({
    flags,
    text,
    parse: (given, earlier = []) => [...earlier, ...splitWords([given])],
  }),

  /** A repeated option adds a text, which may have commas. */
  texts: (flags: string, text: string): OptionRow<string[] | undefined> => ({
    flags,
    text,
    parse: (given, earlier = []) => [...earlier, given],
  }),
}

export const readOptionFile = (flag: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new AppError('not_found', `${flag} ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** A row's `run` gets these, before the arguments of the command. */
export interface Call<Given> extends CommandContext {
  options: Given
  json: boolean
  yes: boolean
  /** Prints the value with `--json`, and else the line. */
  result(value: unknown, line: string): Promise<void>
  list<Row>(pages: Iterable<Row[]> | AsyncIterable<Row[]>, listing: Listing<Row>): Promise<void>
  /** Ends the command with exit code 2. */
  usageError(message: string): never
  /** Opens the database for some work, with other settings if they are given. */
  withCore<T>(work: (opened: Opened) => Promise<T>, config?: Config): Promise<T>
}

export type Argument = string | string[] | undefined

export interface CommandRow<Given, Args extends Argument[]> {
  /** They are written as in `<user> [roles...]`; one alone may have its own line in the help. */
  args?: string | { name: string; text: string; parser: Parser<string> }
  text: string
  examples: readonly string[]
  /** They stand in the help below the examples. */
  notes?: string
  options?: { [Name in keyof Given]: OptionRow<Given[Name]> }
  /** Every command that prints a result has `--json`. */
  json?: false
  /** A command that asks before a change that cannot be undone has `--yes`. */
  asks?: true
  run: (call: Call<Given>, ...args: Args) => Promise<unknown>
}

export const command =
  <Given, Args extends Argument[]>(row: CommandRow<Given, Args>): Entry =>
  (parent, name, context) => {
    const { args = '', options, json, asks, run } = row
    const self = describe(parent.command(typeof args === 'string' ? `${name} ${args}` : name), row)
    if (typeof args !== 'string') self.argument(args.name, args.text, orRefuse(args.parser))
    const rows = Object.entries<OptionRow<unknown>>(options ?? {})
    const names = rows.map(([key, each]) => [key, addOption(self, each)] as const)
    if (json !== false) self.option('--json', 'print JSON')
    if (asks) self.option('--yes', 'do not ask for confirmation; required without a terminal')
    self.action((...given: unknown[]) => {
      const found = self.opts()
      const values = Object.fromEntries(names.map(([key, attribute]) => [key, found[attribute]]))
      const call = createCall(self, values as Given, context)
      // Commander passes the options and the command after the arguments.
      return run(call, ...(given.slice(0, -2) as Args)) as Promise<void>
    })
  }

const addOption = (to: Command, { flags, text, parse, choices, initial }: OptionRow<unknown>): string => {
  const added = new Option(flags, text).default(initial)
  if (choices) added.choices(choices)
  if (parse) added.argParser(parse)
  to.addOption(added)
  return added.attributeName()
}

const createCall = <Given>(self: Command, options: Given, context: CommandContext): Call<Given> => {
  const { json = false, yes = false } = self.opts()
  return {
    ...context,
    options,
    json,
    yes,
    result: (value, line) => (json ? printJson(value) : print(`${line}\n`)),
    list: (pages, listing) => printList(pages, listing, json),
    usageError: (message) => self.error(`error: ${message}`),
    withCore: (work, config = context.loadConfig()) => withCore(config, fullName(self).replace('svc ', ''), work),
  }
}

interface GroupRow extends Pick<CommandRow<never, never>, 'text' | 'examples' | 'notes'> {
  /** The name of an inner record stands in the help, as a heading above its commands. */
  commands: Record<string, Entry | Record<string, Entry>>
}

export const group =
  (row: GroupRow): Entry =>
  (parent, name, context) => {
    const self = describe(parent.command(name), row)
    for (const [key, entry] of Object.entries(row.commands)) {
      if (typeof entry === 'function') entry(self, key, context)
      else {
        self.commandsGroup(key)
        for (const [inner, add] of Object.entries(entry)) add(self, inner, context)
        // The last heading holds the help.
        self.commandsGroup('Help:').helpCommand('help [command]', 'show help for a command')
      }
    }
  }

const describe = (self: Command, { text, examples, notes }: Pick<GroupRow, 'text' | 'examples' | 'notes'>): Command => {
  self.description(text).addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`)
  if (notes !== undefined) self.addHelpText('after', `\n${notes}`)
  return self.showHelpAfterError(`Try: ${fullName(self)} --help`)
}

const fullName = (self: Command): string => (self.parent ? `${fullName(self.parent)} ${self.name()}` : self.name())
