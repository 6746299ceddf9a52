import type { z } from 'zod'
import type { ToolLimits } from '../../domain/index.js'

/** A tool by its own name and by the names that people bring from elsewhere (`Bash` for `run_command`). */
export type ToolName = { name: string; aliases?: readonly string[] }

/** What configuration has to know of other rooms. Handed in, because this room does not import them. */
export type Surroundings<P = unknown, S = unknown> = {
  /** The schema of `providers`: from names to settings. */
  providers: z.ZodType<Record<string, P>>
  /** The schema of `mcp_servers`: from names to settings. */
  mcp_servers: z.ZodType<Record<string, S>>
  tools: readonly ToolName[]
  limits: ToolLimits
}

export type Places = {
  /** Absolute and real. */
  project_dir: string
  /** Absolute. What `~/` stands for. */
  home: string
}
