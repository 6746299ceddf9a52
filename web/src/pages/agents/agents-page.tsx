import { lazy, Suspense } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { Empty, Loading } from '../../parts/states'
import { useTitle } from '../../parts/title'
import styles from './agents.module.css'
import { AgentsList } from './list/agents-list'
import { PinsView } from './pins/pins-view'

const RegistryView = lazy(() => import('./registry/registry-view'))

const PARTS = [
  { to: '/agents', name: 'Agents and profiles', here: (path: string) => /^\/agents(\/show\/.*)?\/?$/.test(path) },
  { to: '/agents/pins', name: 'Pins', here: (path: string) => path.startsWith('/agents/pins') },
  { to: '/agents/registry', name: 'Registry', here: (path: string) => path.startsWith('/agents/registry') },
]

/** Who the agents are, who is used, and who may change that. */
export function AgentsPage() {
  const [path] = useLocation()
  useTitle('Agents')
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <h1>Agents</h1>
        <nav className={styles.parts} aria-label="Agents">
          {PARTS.map(({ to, name, here }) => (
            <Link key={to} href={to} className={styles.part} aria-current={here(path) ? 'page' : undefined}>
              {name}
            </Link>
          ))}
        </nav>
      </header>
      <Switch>
        <Route path="/agents">
          <AgentsList chosen={null} />
        </Route>
        <Route path="/agents/show/:name">{({ name }) => <AgentsList chosen={decoded(name)} />}</Route>
        <Route path="/agents/pins" component={PinsView} />
        <Route path="/agents/registry">
          <Suspense fallback={<Loading what="the editor" />}>
            <RegistryView />
          </Suspense>
        </Route>
        <Route>
          <Empty title="There is no such page" below>
            <Link href="/agents">See all agents</Link>
          </Empty>
        </Route>
      </Switch>
    </div>
  )
}

/** Handles have a sign in them that addresses write otherwise. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
