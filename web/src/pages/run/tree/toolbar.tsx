import { memo, type RefObject, useEffect } from 'react'
import { countInWords } from '#domain'
import { IconButton } from '../../../parts/button'
import { isTaken } from '../../../parts/taken-keys'
import { type Counts, FILTER_WORDS, FILTERS, type Filter } from './filter'
import styles from './tree.module.css'
import type { Looking } from './use-view'

type Props = {
  counts: Counts
  filter: Filter
  setFilter: (filter: Filter) => void
  search: string
  setSearch: (text: string) => void
  searchBox: RefObject<HTMLInputElement | null>
  looking: Looking
  legend: boolean
  setLegend: (shown: boolean) => void
  /** Whether some are folded. */
  folded: boolean
  foldAll: (fold: boolean) => void
}

const STEP = 0.6

/** Not rendered again while the tree below it is scrolled. */
export const Toolbar = memo(function Toolbar(props: Props) {
  const { counts, filter, setFilter, search, setSearch, searchBox, looking, legend, setLegend } = props
  useZoomKeys(looking)
  return (
    <div className={styles.toolbar}>
      <h2>Agents</h2>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in a row everywhere */}
      <div className={styles.filters} role="group" aria-label="Which sub-agents are shown">
        {FILTERS.filter((name) => counts[name] > 0 || filter === name).map((name) => (
          <button
            key={name}
            type="button"
            className={styles.filter}
            aria-pressed={filter === name}
            onClick={() => setFilter(name)}
          >
            {FILTER_WORDS[name]} <span className={styles.count}>{countInWords(counts[name])}</span>
          </button>
        ))}
      </div>
      <input
        ref={searchBox}
        type="search"
        className={styles.search}
        placeholder="Search agents  /"
        aria-label="Search agents by id, title, profile or model"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          setSearch('')
          event.currentTarget.blur()
        }}
      />
      <div className={styles.tools}>
        <button type="button" className={styles.filter} onClick={() => props.foldAll(!props.folded)}>
          {props.folded ? 'Unfold all' : 'Fold all'}
        </button>
        <button type="button" className={styles.filter} aria-pressed={legend} onClick={() => setLegend(!legend)}>
          Legend
        </button>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in a row everywhere */}
        <span className={styles.zoom} role="group" aria-label="Time line">
          <IconButton label="Zoom out (-)" disabled={looking.fits} onClick={() => looking.zoom(1 / STEP)}>
            −
          </IconButton>
          <IconButton label="Zoom in (+)" onClick={() => looking.zoom(STEP)}>
            +
          </IconButton>
          <IconButton label="Show all of the time (0)" disabled={looking.fits} onClick={looking.showAll}>
            ⤢
          </IconButton>
        </span>
      </div>
    </div>
  )
})

function useZoomKeys({ zoom, pan, showAll }: Looking): void {
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      if (isTaken(event)) return
      if (event.key === '+' || event.key === '=') zoom(STEP)
      else if (event.key === '-') zoom(1 / STEP)
      else if (event.key === '0') showAll()
      else if (event.shiftKey && event.key === 'ArrowLeft') pan(-0.2)
      else if (event.shiftKey && event.key === 'ArrowRight') pan(0.2)
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [zoom, pan, showAll])
}
