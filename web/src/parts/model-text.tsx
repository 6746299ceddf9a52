import { lazy, Suspense } from 'react'
import styles from './model-text.module.css'

/** What makes Markdown of text is as large as the rest of the page together: it comes when there is something to show. */
const Markdown = lazy(() => import('./markdown'))

/** Until then it is text. */
export function ModelText({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className={styles.plain}>{text}</div>}>
      <Markdown text={text} />
    </Suspense>
  )
}
