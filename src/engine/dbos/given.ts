import type { EventData } from '../../domain/index.js'
import type { Store } from '../../store/index.js'

/** How a run was given to the workers when it began, which never changes. */
type Given = NonNullable<EventData<'run.created'>['engine']>

/** null: it was begun without them, and is worked on in its folder by whoever goes on with it there. */
export async function givenToWorkers(store: Pick<Store, 'read'>, run_id: string): Promise<Given | null> {
  const [created] = await store.read({ run_id, limit: 1 })
  return (created?.type === 'run.created' && created.data.engine) || null
}
