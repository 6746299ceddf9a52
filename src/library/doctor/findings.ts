export type Finding = {
  topic: string
  /** ok: nothing to do. note: works, with less. problem: something will not work. */
  state: 'ok' | 'note' | 'problem'
  text: string
  /** What to do about it. */
  advice: string | null
}

export function ok(topic: string, text: string): Finding {
  return { topic, state: 'ok', text, advice: null }
}

export function note(topic: string, text: string, advice: string): Finding {
  return { topic, state: 'note', text, advice }
}

export function problem(topic: string, text: string, advice: string): Finding {
  return { topic, state: 'problem', text, advice }
}
