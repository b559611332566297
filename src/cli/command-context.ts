import type { Config, Environment } from '../config/config.ts'

/** What every command gets from `main.ts`. */
export interface CommandContext {
  /** Reads the configuration. Throws `ConfigError`. */
  loadConfig: () => Config
  serve: () => Promise<void>
  environment: Environment
  /** The names of variables that came from the `.env` file. */
  fromEnvFile: ReadonlySet<string>
}
