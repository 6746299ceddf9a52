export declare function findBrowser(env?: Record<string, string | undefined>): string | null
