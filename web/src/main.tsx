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
// A token that is not taken shows as a refusal of whatever is asked for next.
await exchangeToken(window.location, window.history).catch(() => {})
root.render(
  <StrictMode>
    <QueryClientProvider client={createQueries()}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
