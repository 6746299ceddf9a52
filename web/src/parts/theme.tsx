import { useState } from 'react'
import { IconButton } from './button'

type Theme = 'light' | 'dark'
const KEY = 'retinue-theme'

function wanted(): Theme {
  const chosen = localStorage.getItem(KEY)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = wanted()
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(wanted)
  const other = theme === 'dark' ? 'light' : 'dark'
  const change = () => {
    localStorage.setItem(KEY, other)
    applyTheme()
    setTheme(other)
  }
  return (
    <IconButton label={`Use the ${other} theme`} onClick={change}>
      {theme === 'dark' ? '☀' : '☾'}
    </IconButton>
  )
}
