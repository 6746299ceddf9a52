import { lazy, Suspense } from 'react'
import { Boundary } from './boundary'
import { asMarkdown } from './markdown-bounds'
import styles from './model-text.module.css'

/** What makes Markdown of text is as large as the rest of the page together: it comes when there is something to show. */
const Markdown = lazy(() => import('./markdown'))

/** What a model wrote, as it meant it to look. Until the code for that is there, and where it fails, it is text. */
export function ModelText({ text }: { text: string }) {
  const { markdown, rest } = asMarkdown(text)
  return (
    <>
      {markdown !== '' && (
        <Boundary about={markdown} instead={() => <Plain text={markdown} />}>
          <Suspense fallback={<Plain text={markdown} />}>
            <Markdown text={markdown} />
          </Suspense>
        </Boundary>
      )}
      {rest !== '' && (
        <>
          <p className={styles.note}>
            {markdown === '' ? 'This' : 'The rest'} is shown as it was written: it is too long, or nested too deeply, to
            be shown as Markdown.
          </p>
          <Plain text={rest} />
        </>
      )}
    </>
  )
}

function Plain({ text }: { text: string }) {
  return <pre className={styles.plain}>{text}</pre>
}
