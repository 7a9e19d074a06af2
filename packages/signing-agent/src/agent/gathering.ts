/**
 * Requests that were claimed together wait for each other once they are signed, so that they share one write of the journal and one call
 * to the service.
 */

/** A key in a device or a cloud may take longer for some: the others go ahead. */
const MAX_WAIT_MS = 15;

export interface Member {
  /** Resolves when nobody is missing, or has been for too long. */
  arrive(): Promise<void>;
  /** Refused, lost, or waiting for a user: the others do not wait for it. */
  leave(): void;
}

/** @returns as many members as were claimed together */
export function gathering(count: number): Member[] {
  const complete = Promise.withResolvers<void>();
  let missing = count;
  let timer: NodeJS.Timeout | undefined;
  function settle(): void {
    missing -= 1;
    if (missing > 0) return;
    clearTimeout(timer);
    complete.resolve();
  }
  return Array.from({ length: count }, () => {
    let isMissing = true;
    const leave = () => {
      if (isMissing) settle();
      isMissing = false;
    };
    const arrive = () => {
      leave();
      if (missing > 0) timer ??= setTimeout(complete.resolve, MAX_WAIT_MS);
      return complete.promise;
    };
    return { arrive, leave };
  });
}
