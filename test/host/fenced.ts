import { type CommandResult, type CommandSpec, createHost, type Fence } from '../../src/host/index.js'

export const host = createHost()

/** Around a folder that is all the command's own, without the network, unless something else is said. */
export function fenceOf(root: string, options: Partial<Fence> = {}): Fence {
  return { root, write_paths: [['**']], read_paths: [['**']], hidden: [], network: false, ...options }
}

export function run(
  root: string,
  command: CommandSpec['command'],
  fence: Partial<Fence> = {},
  spec: Partial<CommandSpec> = {},
): Promise<CommandResult> {
  return host.processes.run({
    command,
    cwd: root,
    fence: fenceOf(root, fence),
    timeout_ms: 120_000,
    max_output_bytes: 100_000,
    ...spec,
  })
}
