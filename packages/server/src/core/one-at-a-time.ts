/** Runs one flush at a time. A failure rejects the call that caused it, and not the next one. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    const now = last.then(work);
    last = now.catch(() => {});
    return now;
  };
}
