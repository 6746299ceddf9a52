import type { LiveScreen, Size } from './screen.js'

/** A screen that others draw on too: what is written scrolls by above all of it. */
export interface Stage {
  write(text: string): void
  picture(lines: ((size: Size) => string[]) | null): void
  changed(): void
  away(): void
  back(): void
}

/** What a run's view needs of the screen that its tree is on. */
export type TreeScreen = Pick<LiveScreen, 'write' | 'changed' | 'away' | 'back' | 'close'>

/** A part of a stage, used like a screen: the picture is there from the first change on. */
export function onStage(stage: Stage, lines: (size: Size) => string[]): TreeScreen {
  let drawn = false
  return {
    write: (text) => stage.write(text),
    changed: () => {
      if (!drawn) stage.picture(lines)
      drawn = true
      stage.changed()
    },
    away: () => stage.away(),
    back: () => stage.back(),
    close: () => {
      const was_drawn = drawn
      if (drawn) stage.picture(null)
      drawn = false
      return was_drawn
    },
  }
}
