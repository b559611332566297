import type { Config, Environment } from '../config/config.ts'

/** What a command is handed from outside. */
export interface CommandContext {
  /** Throws `ConfigError`. */
  loadConfig: () => Config
  serve: () => Promise<void>
  environment: Environment
  /** The names of variables that came from the `.env` file. */
  fromEnvFile: ReadonlySet<string>
}
