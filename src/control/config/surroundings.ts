import type { z } from 'zod'

/** A tool by its own name and by the names that people bring from elsewhere (`Bash` for `run_command`). */
export type ToolName = { name: string; aliases?: readonly string[] }

/** The bounds that tools keep, under the names the tools room gives them. */
export type Limits = {
  output_chars: number
  read_bytes: number
  read_lines: number
  find_results: number
  search_results: number
  command_timeout_ms: number
  command_max_timeout_ms: number
  command_output_bytes: number
}

/** What configuration has to know of other rooms. Handed in, because this room does not import them. */
export type Surroundings<P = unknown> = {
  /** The schema of `providers`: from names to settings. */
  providers: z.ZodType<Record<string, P>>
  tools: readonly ToolName[]
  limits: Limits
}

export type Places = {
  /** Absolute and real. */
  project_dir: string
  /** Absolute. What `~/` stands for. */
  home: string
}
