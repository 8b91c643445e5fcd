/* The pause before reconnecting: at most two seconds for the first minutes, since a restarting server is back soon, and
   longer after that. It is random, so that a thousand pages do not reconnect at once. */
const FIRST_PAUSE = 500, SHORT_PAUSE = 2_000, SHORT_PAUSES = 100, LONG_PAUSE = 30_000;

/* Milliseconds until the next try, after `tries` that failed; `lot` is a random number from 0 to 1. */
export function pauseBefore(tries, lot = Math.random()) {
  const early = Math.min(SHORT_PAUSE, FIRST_PAUSE * 2 ** tries), late = SHORT_PAUSE * 2 ** (tries - SHORT_PAUSES);
  return Math.min(LONG_PAUSE, Math.max(early, late)) * (0.25 + 0.75 * lot);
}
