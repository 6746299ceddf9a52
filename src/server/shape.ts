import type { z } from 'zod'

/** With nothing optional in it at any depth, so that a key that one of two types does not have shows. */
type Whole<T> = T extends readonly (infer E)[]
  ? Whole<E>[]
  : T extends object
    ? { [K in keyof T]-?: Whole<Exclude<T[K], undefined>> }
    : T

type Same<A, B> = [A, Whole<A>] extends [B, Whole<B>] ? ([B, Whole<B>] extends [A, Whole<A>] ? true : false) : false

/**
 * A schema of a type that was written down already: what it lets through is that type, no key more and none less, or it
 * does not compile.
 */
export const shape =
  <T>() =>
  <S extends z.ZodType>(schema: Same<z.output<S>, T> extends true ? S : never): S =>
    schema
