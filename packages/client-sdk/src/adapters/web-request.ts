/** For platforms with a native Web `Request`. */
import type { Filter, FilterResult } from "../filter.ts";

/** Authenticates a copy of the request, so that the handler can still read the body. @param clientCertificate DER */
export async function authenticateWebRequest(
  filter: Filter,
  request: Request,
  clientCertificate: Uint8Array | undefined,
): Promise<FilterResult> {
  const copy = copyRequest(request);
  try {
    return await filter.authenticate(copy, { clientCertificate });
  } finally {
    // An unread copy would buffer the whole body while the handler reads it. The promise settles with both copies, so it isn't
    // awaited.
    if (copy !== request && !copy.bodyUsed) copy.body?.cancel().catch(() => {});
  }
}

function copyRequest(request: Request): Request {
  if (request.body === null) return request;
  if (!request.bodyUsed && !request.body.locked) return request.clone();
  // The body was taken before the filter, so the filter can't have it either.
  return new Request(request.url, { method: request.method, headers: request.headers });
}
