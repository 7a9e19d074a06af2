/** Size and time limits of requests and idle connections, the same at every listener. */
export const serverBounds = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 72_000,
} as const;
