import { type AgentMemory, type Child, type Contract, type Redactor, readOnly } from '../domain/index.js'
import type { CommandResult, Fence, Processes } from '../host/index.js'
import { type Bounds, boundOutput, judgeCommand, type ToolLimits } from '../tools/index.js'
import type { AgentTree, Files } from '../workspaces/index.js'
import { fenceOf } from './fence.js'
import type { RunGate } from './gates.js'
import type { Recorder } from './recorder.js'

type CommandSide = {
  recorder: Recorder
  processes: Processes
  limits: ToolLimits
  redactor: Redactor
  sandboxed: boolean
  /** For fresh trees; null: none. */
  setup: string | null
  now: () => number
  signal: () => AbortSignal
  time_left_ms: () => number
}

/** Of what came out of the setup, so much goes into the event; the whole is kept beside it. */
const DETAIL_CHARS = 2000

/** Commands that an agent runs without having asked for them: checks of its sub-agents' work, setting up a tree. */
export class OwnCommands {
  constructor(private readonly side: CommandSide) {}

  get #memory(): AgentMemory {
    return this.side.recorder.memory
  }

  /**
   * A gate's command is one that this agent could run without asking, here and now. It runs behind the fence of the
   * sub-agent whose work it looks at, since it may run what that wrote; in what time this agent has left.
   */
  async runGate({ contract, base }: Child, files: Files, command: string, stopped: AbortSignal): ReturnType<RunGate> {
    const { sandboxed, signal } = this.side
    const refused = await this.refusal(command)
    if (refused !== null) return { refused }
    const fence = sandboxed && contract ? fenceIn(files, contract, base !== null) : null
    return this.#run(files, command, fence, AbortSignal.any([signal(), stopped]))
  }

  /** The same for a check of the whole, in what this agent works in; in a tree of its own everything can be written. */
  async runWhole(files: Files, command: string, bounds: Bounds): ReturnType<RunGate> {
    const { sandboxed, signal } = this.side
    const { contract, tree } = this.#memory
    const refused = await this.refusal(command, bounds)
    if (refused !== null) return { refused }
    return this.#run(files, command, sandboxed ? fenceIn(files, contract, tree !== null) : null, signal())
  }

  /** Why a command would not be run without asking, or null. */
  async refusal(command: string, { read_only }: Bounds = { read_only: false }): Promise<string | null> {
    const { permissions } = this.#memory.contract
    const authority = read_only ? readOnly(permissions) : permissions
    const verdict = await judgeCommand(authority, command, this.side.sandboxed)
    return verdict.decision === 'allow' ? null : verdict.reason
  }

  /** Makes a fresh tree ready, as the configuration says. `commit`: what it was made of. Says why it could not. */
  async setUp({ files, reset }: AgentTree, commit: string): Promise<string | null> {
    const { setup: command, sandboxed, recorder, redactor, now, signal } = this.side
    // Nothing more is run in a tree whose agent has no time left.
    if (command === null || this.side.time_left_ms() <= 0) return null
    const { contract } = this.#memory
    const refusal = await setupRefusal(contract, command, sandboxed)
    if (refusal !== null) return `workspace.setup was not run: ${refusal}`
    recorder.record('agent.setup_started', { command })
    await recorder.commit()
    const started = now()
    const ran = await this.#run(files, command, sandboxed ? fenceIn(files, contract, true) : null, signal())
    // What it leaves beside ignored files is nobody's work.
    const cleaned = await reset(commit)
    const passed = ran.status === 'exited' && ran.exit_code === 0
    const how = ran.status === 'exited' ? `exit code ${ran.exit_code}` : (ran.message ?? ran.status)
    const whole = redactor.redact(`${how}\n${ran.output.trimEnd()}`.trimEnd())
    const { content: detail, cut } = boundOutput(whole, { max_chars: DETAIL_CHARS, call_id: command })
    const output = cut ? recorder.keep(whole) : null
    recorder.record('agent.setup_finished', { command, passed, detail, output, duration_ms: now() - started })
    if (!passed) return `workspace.setup failed: ${command}: ${detail}`
    return cleaned.ok ? null : cleaned.message
  }

  #run({ workspace }: Files, command: string, fence: Fence | null, signal: AbortSignal): Promise<CommandResult> {
    const { limits, processes, time_left_ms } = this.side
    return processes.run({
      command,
      cwd: workspace.root,
      ...(fence ? { fence } : {}),
      timeout_ms: Math.max(1, Math.min(limits.command_max_timeout_ms, time_left_ms())),
      signal,
      max_output_bytes: limits.command_output_bytes,
    })
  }
}

/** Whoever configured it has said yes to it, but not to what a rule denies this agent. */
async function setupRefusal({ permissions }: Contract, command: string, sandboxed: boolean): Promise<string | null> {
  if (!sandboxed && permissions.mode !== 'dangerous') return 'there is no sandbox here'
  const allowed_tools = [...permissions.allowed_tools, 'run_command']
  const verdict = await judgeCommand({ ...permissions, allowed_tools }, command, sandboxed)
  return verdict.decision === 'deny' && verdict.by === 'rule' ? verdict.reason : null
}

/**
 * The fence of the agent that a command is about, but for what it may write: in a tree of that agent's own everything,
 * since the work is a commit and the rest is put back; elsewhere nothing, unless that is where it writes itself.
 */
function fenceIn({ workspace, around }: Files, contract: Contract, is_own: boolean): Fence {
  const fence = fenceOf(contract, workspace.root, around ?? undefined)
  if (is_own) return { ...fence, write_paths: [['**']] }
  return contract.workspace.isolation === 'shared' ? fence : { ...fence, write_paths: [[]] }
}
