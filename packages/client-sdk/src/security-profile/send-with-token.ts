/** A request to an API with an access token (RFC 6750 §2.1), and with the proof of its key (RFC 9449 §7.1). */
import type { Dpop } from "./dpop.ts";

interface TokenUse {
  readonly accessToken: string;
  readonly dpop: Dpop | undefined;
  readonly fetch: typeof fetch;
}

/** A body that is a stream is sent once: a server that wants a nonce first then gets no second attempt. */
export async function sendWithToken(
  { accessToken, dpop, fetch: send }: TokenUse,
  url: URL,
  init: RequestInit,
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `${dpop ? "DPoP" : "Bearer"} ${accessToken}`);
  if (!dpop) return send(url, { ...init, headers });
  const isOnce = init.body instanceof ReadableStream;
  let first: Response | undefined;
  return dpop.send(
    { method: (init.method ?? "GET").toUpperCase(), url: url.href, accessToken },
    async (proof) => {
      if (first && isOnce) return first;
      await first?.body?.cancel();
      for (const [name, value] of Object.entries(proof)) headers.set(name, value);
      first = await send(url, { ...init, headers });
      return first;
    },
  );
}
