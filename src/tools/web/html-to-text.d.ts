/** The part of html-to-text that is used here; the package comes without types. */
declare module 'html-to-text' {
  export type Node = { type: string; name?: string; data?: string; attribs?: Record<string, string>; children?: Node[] }
  export type Walk = (nodes: Node[] | undefined, builder: Builder) => void
  export type Builder = {
    metadata: unknown
    addInline(text: string, options?: { noWordTransform?: boolean }): void
    addLiteral(text: string): void
    addLineBreak(): void
    openBlock(options?: { leadingLineBreaks?: number; isPre?: boolean; reservedLineLength?: number }): void
    closeBlock(options?: { trailingLineBreaks?: number; blockTransform?: (text: string) => string }): void
  }
  export type Formatter = (element: Node, walk: Walk, builder: Builder, options: Record<string, unknown>) => void
  export type Options = {
    baseElements?: { selectors?: string[]; returnDomByDefault?: boolean }
    formatters?: Record<string, Formatter>
    limits?: { maxDepth?: number; maxInputLength?: number; ellipsis?: string }
    selectors?: { selector: string; format?: string; options?: Record<string, unknown> }[]
    wordwrap?: number | false | null
  }
  export function compile(options: Options): (html: string, metadata?: unknown) => string
}
