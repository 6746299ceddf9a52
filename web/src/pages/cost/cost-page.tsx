import { Empty } from '../../parts/states'

export function CostPage() {
  return <Empty title="not written yet"></Empty>
}
