/** API v1 as commands call it, whatever carries the calls: a server, or this process on the database (api-v1.md). */

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface ApiRequest {
  readonly method: Method;
  /** From `/api/v1` on, with the query. */
  readonly path: string;
  readonly body?: unknown;
}

export interface ApiAnswer {
  readonly status: number;
  /** The JSON; undefined when there was none. */
  readonly body: unknown;
}

export type Transport = (request: ApiRequest) => Promise<ApiAnswer>;

export type Wire = Readonly<Record<string, unknown>>;

/** The records of one organisation. Paths begin below the organisation's: `/groups`. All throw ApiRefusal. */
export interface RecordApi {
  readonly orgId: string;
  read<T = Wire>(path: string): Promise<T>;
  send<T = Wire>(method: Exclude<Method, "GET">, path: string, body?: unknown): Promise<T>;
  /** To the end of the list, or to `limit`. */
  list<T extends Wire = Wire>(
    path: string,
    options?: { readonly limit?: number | undefined; readonly query?: Readonly<Record<string, string>> },
  ): Promise<{ items: T[]; more: boolean }>;
}
