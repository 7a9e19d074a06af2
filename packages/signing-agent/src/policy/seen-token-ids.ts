/** The jti of every signed token until it expires: none is signed twice (sovereign-signing.md §6). */
import { Refusal } from "../agent/refusal.ts";

const SWEEP_MS = 60_000;
/** Verifiers tolerate clock skew: a token lives a little longer than its exp. */
const MARGIN_SECONDS = 120;

export type SeenTokenIds = ReturnType<typeof seenTokenIds>;

export function seenTokenIds(clock: () => number) {
  const expiries = new Map<string, number>();
  let sweptAt = clock();

  function sweep(): void {
    const now = clock();
    if (now - sweptAt < SWEEP_MS) return;
    sweptAt = now;
    const expired = now / 1000 - MARGIN_SECONDS;
    for (const [jti, exp] of expiries) if (exp < expired) expiries.delete(jti);
  }

  return {
    /** @throws Refusal when one of them was seen before; then none is added */
    take: (
      tokens: ReadonlyArray<{ readonly jti: string | undefined; readonly exp: number | undefined }>,
    ): void => {
      sweep();
      if (tokens.some(({ jti }) => jti !== undefined && expiries.has(jti)))
        throw new Refusal("jti", "a token with this jti has been signed before");
      for (const { jti, exp } of tokens) if (jti !== undefined && exp !== undefined) expiries.set(jti, exp);
    },
    /** Restores an entry of the journal. @param exp seconds since the epoch */
    remember: (jti: string, exp: number): void => {
      if (exp >= clock() / 1000 - MARGIN_SECONDS) expiries.set(jti, exp);
    },
    get size() {
      return expiries.size;
    },
  };
}
