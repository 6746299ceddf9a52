import type { Budget } from '../../domain/index.js'
import type { ToolName } from '../config/surroundings.js'

/** What agent files have to know of other rooms and of the configuration. Handed in. */
export type AgentFileSurroundings = {
  /** The tools there are, by their own names and by those that people bring. */
  tools: readonly ToolName[]
  /** Names of the configured pools. */
  pools: readonly string[]
  /** The models that files of a project may choose; null: any. */
  models_listed: readonly string[] | null
  /** What the person's own file has fixed for sub-agents: files of a project get no more. */
  fixed?: { budget?: { [name in keyof Budget]?: Budget[name] | undefined }; max_retries?: number }
}

export type AgentPlaces = {
  /** Absolute and real. */
  project_dir: string
  home: string
  /** The folder that holds `retinue/`: `~/.config` where nothing else is said. */
  config_home: string
}
