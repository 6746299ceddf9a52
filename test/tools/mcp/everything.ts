/** Every tool that server-everything offers to a client like ours, with arguments and what the answer looks like. */
export const EVERYTHING: readonly { tool: string; args: Record<string, unknown>; answer: RegExp }[] = [
  { tool: 'echo', args: { message: 'hello over there' }, answer: /^Echo: hello over there$/ },
  {
    tool: 'get-annotated-message',
    args: { messageType: 'error', includeImage: true },
    answer: /^Error: Operation failed\n\[image image\/png, \d+ bytes\]$/,
  },
  { tool: 'get-env', args: {}, answer: /^\{\n(.|\n)*"PATH": / },
  {
    tool: 'get-resource-links',
    args: { count: 2 },
    answer: /\n\[resource demo:\/\/resource\/dynamic\/text\/2 \(text\/plain\): Text Resource 2, /,
  },
  {
    tool: 'get-resource-reference',
    args: { resourceType: 'Text', resourceId: 1 },
    answer: /\n\[resource demo:\/\/resource\/dynamic\/text\/1\]\nResource 1: This is a plaintext resource/,
  },
  { tool: 'get-roots-list', args: {}, answer: /\n1\. workspace\n {3}URI: file:\/\/\// },
  { tool: 'get-structured-content', args: { location: 'Chicago' }, answer: /^\{"temperature":36,/ },
  { tool: 'get-sum', args: { a: 2, b: 40 }, answer: /^The sum of 2 and 40 is 42\.$/ },
  { tool: 'get-tiny-image', args: {}, answer: /\n\[image image\/png, \d+ bytes\]\n/ },
  {
    tool: 'gzip-file-as-resource',
    args: { name: 'a.gz', data: 'data:text/plain,hi', outputType: 'resource' },
    answer: /^\[resource demo:\/\/resource\/session\/a\.gz, application\/gzip, \d+ bytes\]$/,
  },
  { tool: 'simulate-research-query', args: { topic: 'owls' }, answer: /^# Research Report: owls\n/ },
  { tool: 'toggle-simulated-logging', args: {}, answer: /^Started simulated, random-leveled logging/ },
  { tool: 'toggle-subscriber-updates', args: {}, answer: /^Started simulated resource updated notifications/ },
  {
    tool: 'trigger-long-running-operation',
    args: { duration: 0.2, steps: 2 },
    answer: /^Long running operation completed\. Duration: 0\.2 seconds, Steps: 2\.$/,
  },
]
