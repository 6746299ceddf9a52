import fc from 'fast-check'

/** The same cases each time, so that CI is no lottery. `FC_SEED=$RANDOM npm test` looks for new ones. */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20261116) })
