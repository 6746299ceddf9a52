import { lazy, type ReactNode, Suspense } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { ApiError } from './api/client'
import { useMe } from './api/queries'
import styles from './app.module.css'
import { RunsPage } from './pages/runs/runs-page'
import { Empty, Failure, Loading } from './parts/states'
import { ThemeSwitch } from './parts/theme'

const RunPage = lazy(() => import('./pages/run/run-page').then(({ RunPage }) => ({ default: RunPage })))
const PlanPage = lazy(() => import('./pages/plan/plan-page').then(({ PlanPage }) => ({ default: PlanPage })))
const AgentsPage = lazy(() => import('./pages/agents/agents-page').then(({ AgentsPage }) => ({ default: AgentsPage })))
const CostPage = lazy(() => import('./pages/cost/cost-page').then(({ CostPage }) => ({ default: CostPage })))

const PLACES = [
  { to: '/', name: 'Runs', here: (path: string) => path === '/' || path.startsWith('/runs') },
  { to: '/agents', name: 'Agents', here: (path: string) => path.startsWith('/agents') },
  { to: '/cost', name: 'Cost', here: (path: string) => path.startsWith('/cost') },
]

/** The frame around every page: where one is, who one is, and what to do when the server does not know. */
export function App() {
  const me = useMe()
  return (
    <>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <header className={styles.header}>
        <Link className={styles.brand} href="/">
          <img src="/icon.svg" alt="" width="24" height="24" />
          Retinue
        </Link>
        <Navigation />
        <span className={styles.folder} title={me.data?.folder}>
          <bdi>{me.data?.folder}</bdi>
        </span>
        {me.data && (
          <span className={styles.who}>
            {me.data.principal.id} <span className={styles.role}>{me.data.principal.role}</span>
          </span>
        )}
        <ThemeSwitch />
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        {me.data ? <Pages /> : me.error ? <Outside error={me.error} retry={me.refetch} /> : <Loading what="Retinue" />}
      </main>
    </>
  )
}

function Navigation() {
  const [path] = useLocation()
  return (
    <nav className={styles.nav} aria-label="Pages">
      {PLACES.map(({ to, name, here }) => (
        <Link key={to} href={to} className={styles.place} aria-current={here(path) ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  )
}

function Pages(): ReactNode {
  return (
    <Suspense fallback={<Loading what="the page" />}>
      <Switch>
        <Route path="/" component={RunsPage} />
        <Route path="/runs/:run">{({ run }) => <RunPage key={run} run_id={run} agent_id={null} />}</Route>
        <Route path="/runs/:run/agents/:agent">
          {({ run, agent }) => <RunPage key={run} run_id={run} agent_id={agent} />}
        </Route>
        <Route path="/runs/:run/plan">{({ run }) => <PlanPage run_id={run} />}</Route>
        <Route path="/agents/*?" component={AgentsPage} />
        <Route path="/cost" component={CostPage} />
        <Route>
          <Empty title="There is no such page">
            <Link href="/">See the runs of this folder</Link>
          </Empty>
        </Route>
      </Switch>
    </Suspense>
  )
}

function Outside({ error, retry }: { error: Error; retry: () => void }) {
  if (error instanceof ApiError && error.status === 401) {
    return (
      <Empty title="This window has no key">
        Open the address that <code>retinue serve</code> printed, all of it: the key is behind the #. Each start of the
        server has a new one.
      </Empty>
    )
  }
  return <Failure error={error} retry={retry} />
}
