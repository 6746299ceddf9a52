import { Empty } from '../../parts/states'

export function AgentsPage() {
  return <Empty title="not written yet"></Empty>
}
