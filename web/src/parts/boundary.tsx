import { Component, type ReactNode } from 'react'

type Props = {
  /** What is shown instead of what could not be. */
  instead: (error: Error) => ReactNode
  /** When this is another than it was, it is tried again. */
  about: string
  children: ReactNode
}

/** Keeps what goes wrong in one part from taking the whole window with it. */
export class Boundary extends Component<Props, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(thrown: unknown): { error: Error } {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) }
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.error && before.about !== this.props.about) this.setState({ error: null })
  }

  override render(): ReactNode {
    return this.state.error ? this.props.instead(this.state.error) : this.props.children
  }
}
