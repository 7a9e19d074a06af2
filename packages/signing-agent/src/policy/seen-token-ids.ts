/** The jti of every token that was signed and has not expired: none is signed twice (sovereign-signing.md §6). */
import { Refusal } from "../refusal.ts";

export interface SeenTokenIds {
  /** @param exp seconds since the epoch. @throws Refusal when any of them was seen; then none is kept */
  take(tokens: ReadonlyArray<{ readonly jti: string | undefined; readonly exp: number }>): void;
  /** Of an earlier run, from the journal. */
  remember(jti: string, exp: number): void;
  readonly size: number;
}

const SWEEP_MS = 60_000;
/** Verifiers allow for clocks that differ: a token is not gone at the second of its exp. */
const MARGIN_SECONDS = 120;

export function seenTokenIds(clock: () => number): SeenTokenIds {
  const expiries = new Map<string, number>();
  let sweptAt = clock();

  function sweep(): void {
    const now = clock();
    if (now - sweptAt < SWEEP_MS) return;
    sweptAt = now;
    const gone = now / 1000 - MARGIN_SECONDS;
    for (const [jti, exp] of expiries) if (exp < gone) expiries.delete(jti);
  }

  return {
    take: (tokens) => {
      sweep();
      if (tokens.some(({ jti }) => jti !== undefined && expiries.has(jti)))
        throw new Refusal("jti", "a token with this jti was signed before");
      for (const { jti, exp } of tokens) if (jti !== undefined) expiries.set(jti, exp);
    },
    remember: (jti, exp) => {
      if (exp >= clock() / 1000 - MARGIN_SECONDS) expiries.set(jti, exp);
    },
    get size() {
      return expiries.size;
    },
  };
}
