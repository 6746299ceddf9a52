import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { doingWords, type OpenQuestion, printableAll, questionKey, type TreeAgent } from '#domain'
import type { AgentDetail } from '#wire'
import { api, at } from '../../../api/client'
import { useMayOperate } from '../../../api/queries'
import { Button, IconButton } from '../../../parts/button'
import { Failure, Loading } from '../../../parts/states'
import { Badge, STANDING_TONES } from '../../../parts/status'
import { Tabs } from '../../../parts/tabs'
import { useWide } from '../../../parts/use-wide'
import { EventList } from '../events/event-list'
import { CancelDialog } from '../header/cancel-dialog'
import type { RunStore } from '../run-store'
import { standingIn, standingWord } from '../tree/standing'
import { ContractTab } from './contract-tab'
import { FilesTab } from './files-tab'
import styles from './panel.module.css'
import { ReportTab } from './report-tab'
import { Sheet } from './sheet'
import { TranscriptTab } from './transcript-tab'

const TABS = [
  { id: 'contract', name: 'Contract' },
  { id: 'transcript', name: 'Transcript' },
  { id: 'events', name: 'Events' },
  { id: 'files', name: 'Files' },
  { id: 'report', name: 'Report' },
] as const
type TabId = (typeof TABS)[number]['id']

type Props = {
  store: RunStore
  version: number
  run_id: string
  agent_id: string
  live: boolean
  /** What it waits for; it is answered where all questions of the run are. */
  questions: readonly OpenQuestion[]
  goTo: (question: OpenQuestion, is_sheet: boolean) => void
  showDiff: () => void
  close: () => void
}

/** Where there is less room it is a sheet over the page. */
const BESIDE_PX = 901

/** One agent: what binds it, what it was told, said and did, what it changed and what it reports. */
export function AgentPanel({ store, version, run_id, agent_id, live, questions, goTo, showDiff, close }: Props) {
  const [tab, setTab] = useState<TabId>('contract')
  const agent = store.tree.agents.get(agent_id)
  const detail = useAgentDetail(run_id, agent_id, agent, live)
  const beside = useWide(BESIDE_PX)
  const failed = detail.error && !detail.data
  const inside = (
    <>
      <PanelHead {...{ run_id, agent_id, agent, live, close }} interrupted={store.interrupted} />
      {questions.map((question) => (
        <p key={questionKey(question)} className={styles.asks}>
          It waits for you. <Button onClick={() => goTo(question, !beside)}>See the question</Button>
        </p>
      ))}
      {failed ? (
        <Failure below error={detail.error} retry={detail.refetch} />
      ) : (
        <Tabs label={`Agent ${agent_id}`} tabs={TABS} chosen={tab} choose={setTab}>
          {!detail.data && tab !== 'events' && tab !== 'transcript' && <Loading what="the agent" />}
          {tab === 'contract' && detail.data && <ContractTab run_id={run_id} detail={detail.data} />}
          {tab === 'transcript' && (
            <TranscriptTab
              key={agent_id}
              {...{ run_id, agent_id, live }}
              newest={store.last_of.get(agent_id) ?? 0}
              connection={store.connection}
            />
          )}
          {tab === 'events' && <EventList key={agent_id} {...{ run_id, store, version, live, agent_id }} />}
          {tab === 'files' && detail.data && <FilesTab {...{ run_id, showDiff }} detail={detail.data} />}
          {tab === 'report' && detail.data && <ReportTab detail={detail.data} />}
        </Tabs>
      )}
    </>
  )
  // Beside the tree it leaves the focus there, so that keys go on.
  if (!beside)
    return (
      <Sheet label={`Agent ${agent_id}`} close={close}>
        {inside}
      </Sheet>
    )
  return (
    <aside className={styles.panel} aria-label={`Agent ${agent_id}`}>
      {inside}
    </aside>
  )
}

type HeadProps = {
  run_id: string
  agent_id: string
  agent: TreeAgent | undefined
  live: boolean
  interrupted: boolean
  close: () => void
}

function PanelHead({ run_id, agent_id, agent, live, interrupted, close }: HeadProps) {
  const [cancelling, setCancelling] = useState(false)
  const may = useMayOperate()
  const standing = agent && standingIn(agent, interrupted)
  const words = agent && standing !== 'interrupted' ? doingWords(agent) : ''
  const open = agent !== undefined && agent.parent_id !== null && agent.ended_at === null && live
  return (
    <header className={styles.head}>
      <div className={styles.name}>
        <h2>
          <code>{agent_id}</code> {agent?.profile && <span className={styles.profile}>{agent.profile}</span>}
        </h2>
        {standing && <Badge tone={STANDING_TONES[standing]}>{standingWord(agent, standing)}</Badge>}
        <span className={styles.space} />
        {may && open && (
          <Button kind="danger" disabled={agent.cancelling} onClick={() => setCancelling(true)}>
            {agent.cancelling ? 'Cancelling …' : 'Cancel'}
          </Button>
        )}
        <IconButton label="Close the agent (Esc)" onClick={close}>
          ✕
        </IconButton>
      </div>
      {agent && <p className={styles.title}>{agent.title}</p>}
      {words !== '' && <p className={styles.words}>{words}</p>}
      {cancelling && <CancelDialog run_id={run_id} agent_id={agent_id} close={() => setCancelling(false)} />}
    </header>
  )
}

/** While it is open it is asked for every now and then, and whenever it has come to another state. */
const EVERY_MS = 2_000

function useAgentDetail(run_id: string, agent_id: string, agent: TreeAgent | undefined, live: boolean) {
  const state = agent?.state ?? 'created'
  return useQuery({
    queryKey: ['agent', run_id, agent_id, state],
    queryFn: async ({ signal }) =>
      printableAll(await api<AgentDetail>(at`/runs/${run_id}/agents/${agent_id}`, { signal })),
    refetchInterval: live && state !== 'closed' ? EVERY_MS : false,
    placeholderData: keepPreviousData,
  })
}
