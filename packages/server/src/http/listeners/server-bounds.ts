/** How long and how large a request may be, and how long a connection may idle: the same at every listener. */
export const serverBounds = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 72_000,
} as const;
