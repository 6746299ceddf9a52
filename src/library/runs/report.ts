import { type AgentResult, type Child, type Receipt, receiptInWords } from '../../domain/index.js'

/** A sub-agent's report as a file that a person reads. The log has the same and more. */
export function reportOf(child: Child, result: AgentResult): string {
  const { outcome, reason, usage, tool_calls, turns, cost_usd, duration_ms, files_read, files_changed } = result
  const tokens = usage.input_tokens + usage.output_tokens
  const cost = cost_usd === null ? 'cost unknown' : `${cost_usd.toFixed(4)} USD`
  const { agent, model } = child.contract ?? {}
  return [
    `# ${child.title}`,
    `Status: ${outcome}${reason ? ` (${reason})` : ''}`,
    `Sub-agent ${child.id}${agent?.profile_id ? `, profile ${agent.profile_id}` : ''}${model ? `, ${model.provider}/${model.model}` : ''}; ${turns} turns, ${tool_calls} tool calls, ${tokens} tokens, ${cost}, ${(duration_ms / 1000).toFixed(1)} s`,
    ...child.gates.map(
      ({ what, passed, detail, after_merge }) =>
        `Check${after_merge ? ' after the merge' : ''} ${passed ? 'passed' : 'failed'}: ${what} (${detail})`,
    ),
    ...(result.receipt ? [receiptLines(result.receipt)] : []),
    `Files changed: ${files_changed.join(', ') || 'none'}`,
    `Files read: ${files_read.join(', ') || 'none'}`,
    '## Task',
    child.task,
    '## Report',
    result.text || '(no text)',
    '',
  ].join('\n\n')
}

function receiptLines(receipt: Receipt): string {
  return receiptInWords(receipt)
    .map(([label, text]) => `- ${label}: ${text.replaceAll('\n', '; ')}`)
    .join('\n')
}
