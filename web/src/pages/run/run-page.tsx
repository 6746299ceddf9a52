import { Empty } from '../../parts/states'

export function RunPage(props: { run_id: string; agent_id: string | null }) {
  return <Empty title="not written yet">{props.run_id}</Empty>
}
