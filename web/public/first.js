// Before anything else is loaded: zod would try whether code may be made of text, and the policy of this page forbids it.
globalThis.__zod_globalConfig = { jitless: true }
