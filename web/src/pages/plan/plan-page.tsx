import { Empty } from '../../parts/states'

export function PlanPage(props: { run_id: string }) {
  return <Empty title="not written yet">{props.run_id}</Empty>
}
