import Markdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import styles from './markdown.module.css'

/**
 * What a model wrote, as it meant it to look. It becomes elements, never HTML: raw HTML in it stays text, pictures are not
 * loaded, and a link says where it leads.
 */
export default function ModelText({ text }: { text: string }) {
  return (
    <div className={styles.text}>
      <Markdown remarkPlugins={[remarkGfm]} components={COMPONENTS}>
        {text}
      </Markdown>
    </div>
  )
}

const COMPONENTS: React.ComponentProps<typeof Markdown>['components'] = {
  img: ({ alt, src }) => <span className={styles.picture}>[picture: {alt || String(src ?? '')}]</span>,
  a: ({ href, children }) => (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ),
}
