import {
  type ComponentType,
  lazy,
  type ReactNode,
  type RefObject,
  Suspense,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { api } from './api/client'
import { currentEntry, type Entry, onEntry } from './api/entry'
import { useMe } from './api/queries'
import styles from './app.module.css'
import { NoKey, SignOut } from './entrance'
import { RunsPage } from './pages/runs/runs-page'
import { Boundary } from './parts/boundary'
import { Button } from './parts/button'
import { Empty, Failure, Loading } from './parts/states'
import { ThemeSwitch } from './parts/theme'
import { useTitle } from './parts/title'

/** A page that is loaded when it is first opened. */
const page = <P extends object>(load: () => Promise<ComponentType<P>>) =>
  lazy(async () => {
    const shown = await load().catch(() => {
      throw new Error('The page could not be loaded. If the server was ended, start it again with: retinue serve')
    })
    return { default: shown }
  })

const RunPage = page(() => import('./pages/run/run-page').then(({ RunPage }) => RunPage))
const PlanPage = page(() => import('./pages/plan/plan-page').then(({ PlanPage }) => PlanPage))
const AgentsPage = page(() => import('./pages/agents/agents-page').then(({ AgentsPage }) => AgentsPage))
const CostPage = page(() => import('./pages/cost/cost-page').then(({ CostPage }) => CostPage))

const PLACES = [
  { to: '/', name: 'Runs', here: (path: string) => path === '/' || path.startsWith('/runs') },
  { to: '/agents', name: 'Agents', here: (path: string) => path.startsWith('/agents') },
  { to: '/cost', name: 'Cost', here: (path: string) => path.startsWith('/cost') },
]

/** The frame around every page: where one is, who one is, and what to do when the server does not know. */
export function App() {
  const me = useMe()
  const entry = useSyncExternalStore(onEntry, currentEntry)
  const main = useRef<HTMLElement>(null)
  const [path] = useLocation()
  useFocusOn(main, placeOf(path))
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
        {me.data && !entry.missing && <SignOut />}
      </header>
      <main id="main" className={styles.main} tabIndex={-1} ref={main}>
        {entry.refused && <NotTaken {...entry.refused} />}
        {entry.missing ? (
          <NoKey />
        ) : (
          !me.data && (me.error ? <Failure error={me.error} retry={me.refetch} /> : <Loading what="Retinue" />)
        )}
        {/* What is there already stays while there is no key, unseen, and goes on from where it was when there is one. */}
        {me.data && (
          <div hidden={entry.missing}>
            <Boundary about={path} instead={(error) => <Broken error={error} />}>
              <Pages />
            </Boundary>
          </div>
        )}
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
          <NoPage />
        </Route>
      </Switch>
    </Suspense>
  )
}

function NoPage() {
  useTitle('No such page')
  return (
    <Empty title="There is no such page">
      <Link href="/">See the runs of this folder</Link>
    </Empty>
  )
}

/** The key of the address was offered, and something was in the way. */
function NotTaken({ error, again }: NonNullable<Entry['refused']>) {
  return (
    <p className={styles.refused} role="alert">
      <span>The token was not taken: {error.message}</span>
      <Button onClick={again}>Try again</Button>
    </p>
  )
}

/**
 * A page that could not be loaded or shown. Only all of it can be loaded again: a browser keeps what it has of a page, and
 * another version of the server has other parts. Without a server there would be nothing left to look at.
 */
function Broken({ error }: { error: Error }) {
  const [why, setWhy] = useState(error)
  const again = () => void api('/me').then(() => window.location.reload(), setWhy)
  return <Failure error={why} retry={again} />
}

/** Of a path, what is a page of its own: an agent opens beside its run. */
function placeOf(path: string): string {
  return path.replace(/^(\/runs\/[^/]+)\/agents\/.*$/, '$1').replace(/^(\/agents)\/show\/.*$/, '$1')
}

/** Whoever goes to another page with the keyboard, or hears what is read out, is at its beginning then. */
function useFocusOn(main: RefObject<HTMLElement | null>, place: string): void {
  const before = useRef(place)
  useEffect(() => {
    if (before.current === place) return
    before.current = place
    main.current?.focus({ preventScroll: true })
  }, [main, place])
}
