import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueries } from './api/queries'
import { exchangeToken } from './api/session'
import { App } from './app'
import { applyTheme } from './parts/theme'
import './theme.css'

applyTheme()
const root = createRoot(document.getElementById('root') as HTMLElement)
const queries = createQueries()
await exchangeToken(window.location, window.history)
// The address of a new start, opened where the old one was: a browser loads nothing then, as only the fragment differs.
window.addEventListener('hashchange', async () => {
  if (await exchangeToken(window.location, window.history)) await queries.invalidateQueries()
})
root.render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
