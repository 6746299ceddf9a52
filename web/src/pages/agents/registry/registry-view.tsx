import { useMe } from '../../../api/queries'
import { Failure, Loading } from '../../../parts/states'
import { useAgents, useRegistry } from '../data'
import { registryText } from './draft'
import { Editing } from './editing'

/** The agent registry as its JSON. With the editor it is a part of its own, which is loaded when it is wanted. */
export default function RegistryView() {
  const registry = useRegistry()
  const agents = useAgents()
  const me = useMe()
  if (!registry.data || !me.data) {
    return registry.error ? (
      <Failure below error={registry.error} retry={registry.refetch} />
    ) : (
      <Loading what="the registry" />
    )
  }
  const { version, value } = registry.data
  return (
    <Editing
      stored={{ version, text: registryText(value) }}
      refetch={async () => {
        await registry.refetch()
      }}
      profiles={agents.data?.profiles ?? null}
      me={me.data}
    />
  )
}
