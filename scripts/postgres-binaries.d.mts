export declare const MISSING: string
export declare function findPostgres(): { folder: string; version: string; copied: boolean } | null
export declare function serversFolder(): string
