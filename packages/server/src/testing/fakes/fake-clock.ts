/** A clock that a test moves. Starts at the real time, because signatures of outside libraries are checked against it. */
export interface FakeClock {
  (): number;
  advance(milliseconds: number): void;
}

export function fakeClock(start = Date.now()): FakeClock {
  let now = start;
  const clock = () => now;
  return Object.assign(clock, {
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  });
}
