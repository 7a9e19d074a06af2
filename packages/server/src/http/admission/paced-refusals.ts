/**
 * Refusals are sent at the end of a turn of the event loop, so many in each. Whoever hears at once sends the next request at once:
 * a turn in which all of them hear as they come never gets to the requests that are worked on.
 */

/** About a quarter of the time of a turn with as many answers as there are places. */
export const EACH_TURN = 128;
/** However many wait: in so many turns each is told. */
const MOST_TURNS = 12;

export interface PacedRefusals {
  add(send: () => void): void;
}

export function pacedRefusals(): PacedRefusals {
  const waiting: Array<() => void> = [];
  let isPlanned = false;
  const plan = () => {
    isPlanned = waiting.length > 0;
    if (isPlanned) setImmediate(sendSome);
  };
  const sendSome = () => {
    for (const send of waiting.splice(0, Math.max(EACH_TURN, Math.ceil(waiting.length / MOST_TURNS)))) send();
    plan();
  };
  return {
    add: (send) => {
      waiting.push(send);
      if (!isPlanned) plan();
    },
  };
}
