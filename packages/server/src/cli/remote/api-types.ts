/** API v1 as commands call it, whatever carries the calls: a server, or this process on the database (api-v1.md). */

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface ApiRequest {
  readonly method: Method;
  /** From `/api/v1` on, with the query. */
  readonly path: string;
  readonly body?: unknown;
  /** The record must be as it was read with this tag (RFC 9110 §13.1.1). */
  readonly ifMatch?: string;
}

export interface ApiAnswer {
  readonly status: number;
  /** The JSON; undefined when there was none. */
  readonly body: unknown;
  readonly etag?: string | undefined;
}

export type Transport = (request: ApiRequest) => Promise<ApiAnswer>;

/** The lines of an answer that may be long, without their ends. @throws ApiRefusal */
export type LineReader = (path: string) => AsyncIterable<string>;

export type Wire = Readonly<Record<string, unknown>>;

/**
 * The records of one organisation: paths begin below the organisation's, e.g. `/groups`. Of an operator's command that names
 * none, everything: `/organisations`. All throw ApiRefusal.
 */
export interface RecordApi {
  /** "" without an organisation. */
  readonly orgId: string;
  /** The organisation's. */
  issuer(): Promise<string>;
  readLines(path: string): AsyncIterable<string>;
  read<T = Wire>(path: string): Promise<T>;
  send<T = Wire>(method: Exclude<Method, "GET">, path: string, body?: unknown): Promise<T>;
  /** Reads and replaces, as long as nobody else changes it between the two. */
  replace<T = Wire>(path: string, change: (before: Wire) => unknown): Promise<T>;
  /** To the end of the list, or to `limit`. */
  list<T extends Wire = Wire>(
    path: string,
    options?: { readonly limit?: number | undefined; readonly query?: Readonly<Record<string, string>> },
  ): Promise<{ items: T[]; more: boolean }>;
}
