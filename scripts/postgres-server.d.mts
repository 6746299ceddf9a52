export type PostgresServer = {
  /** Of the user who may do everything, with the password. */
  url: string
  folder: string
  /** Where the small disk is, if there is one. */
  small_disk: string
  /** The process that runs it, for those who must end it from elsewhere. */
  readonly keeper: number
  start(): Promise<void>
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  remove(): Promise<void>
}

export declare function startPostgres(options?: {
  /** The process with which it ends. */
  owner?: number
  /** Whether a commit is on the disk when it is answered. */
  durable?: boolean
  settings?: Record<string, string>
  /** Linux only. */
  small_disk_mb?: number
}): Promise<PostgresServer>

export declare function isAlive(pid: number): boolean
