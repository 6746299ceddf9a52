import { lazy, Suspense } from 'react'

const Markdown = lazy(() => import('../../parts/markdown'))

/** What a model wrote. Until the code is there that makes it look as it was meant, it is shown as it was written. */
export function ModelText({ text }: { text: string }) {
  return (
    <Suspense fallback={<p>{text}</p>}>
      <Markdown text={text} />
    </Suspense>
  )
}
