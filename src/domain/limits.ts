/** Limits that descriptions state and tools keep. */
export type ToolLimits = {
  /** Characters of an output that reach the model; the rest is kept and can be read with read_output. */
  output_chars: number
  read_bytes: number
  read_lines: number
  find_results: number
  search_results: number
  command_timeout_ms: number
  command_max_timeout_ms: number
  command_output_bytes: number
}
