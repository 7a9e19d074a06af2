/** How often the event loop came round while something worked: others are answered in each turn, and in none that did not come. */

export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isWorking = true;
  const turn = () => {
    turns += 1;
    if (isWorking) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
  } finally {
    isWorking = false;
  }
  return turns;
}
