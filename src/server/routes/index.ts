import type { Route } from '../route.js'
import { COST_ROUTES } from './costs.js'
import { LIVE_ROUTES } from './live.js'
import { ME_ROUTES } from './me.js'
import { METRIC_ROUTES } from './metrics.js'
import { PIN_ROUTES } from './pins.js'
import { REGISTRY_ROUTES } from './registry.js'
import { RUN_ACTION_ROUTES } from './run-actions.js'
import { RUN_AGENT_ROUTES } from './run-agents.js'
import { RUN_ROUTES } from './runs.js'
import { SESSION_ROUTES } from './sessions.js'

/** All that the API does, but for who one is and what the document says. The first that fits a path answers. */
export const ROUTES: Route[] = [
  ...ME_ROUTES,
  ...LIVE_ROUTES,
  ...RUN_ROUTES,
  ...RUN_AGENT_ROUTES,
  ...RUN_ACTION_ROUTES,
  ...SESSION_ROUTES,
  ...REGISTRY_ROUTES,
  ...PIN_ROUTES,
  ...COST_ROUTES,
  ...METRIC_ROUTES,
]
