import { Empty } from '../../parts/states'

export function RunsPage() {
  return <Empty title="not written yet"></Empty>
}
