import type { Client, RequestOptions } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { isObject } from '../../domain/index.js'
import type { ListedTool } from './session.js'

/** Whether a tool can only be called as a task: started, and its result fetched. Servers of the year 2025 have such. */
export function needsTask({ execution }: ListedTool): boolean {
  return isObject(execution) && execution.taskSupport === 'required'
}

const startedSchema = z.looseObject({ task: z.looseObject({ taskId: z.string() }) })
const resultSchema = z.looseObject({})

/** Starts a task and waits for its result. Whoever gives up waiting cancels it. */
export async function callAsTask(
  client: Client,
  params: { name: string; arguments: Record<string, unknown> },
  options: RequestOptions & { signal: AbortSignal; timeout: number },
): Promise<Record<string, unknown>> {
  const request = { method: 'tools/call', params: { ...params, task: { ttl: options.timeout } } }
  const { task } = await client.request(request, startedSchema, options)
  const about = { taskId: task.taskId }
  try {
    return await client.request({ method: 'tasks/result', params: about }, resultSchema, options)
  } catch (error) {
    client.request({ method: 'tasks/cancel', params: about }, resultSchema, { timeout: 5000 }).catch(() => {})
    throw error
  }
}
