/** Calls by route, typed by the tables generated from /openapi.json. */
import { SignetError } from "../errors.ts";
import type { HttpAnswer } from "../provider/http.ts";
import { isRecord, withoutUndefined } from "../tokens/claims.ts";
import type { ServiceClient } from "./service-client.ts";

/** Options of any call. */
export interface CallOptions {
  /** Aborts the call and its retries. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a list. */
export interface ListOptions extends CallOptions {
  /** Items per request, 1 to 200. Default 50. */
  readonly pageSize?: number;
}

/** Names of the parameters in a route's path. */
export type PathParameter<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never;
type PathInput<Route extends string> = [PathParameter<Route>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: Readonly<Record<PathParameter<Route>, string>> };

/** Path parameters, query, body and headers of a call. */
type Input<Calls, Route extends keyof Calls & string> = PathInput<Route> & {
  readonly [Part in keyof Calls[Route] as Part extends "query" | "body" ? Part : never]: Calls[Route][Part];
} & CallSettings;

interface CallSettings {
  readonly headers?: Readonly<Record<string, string>>;
  /** Overrides what the method implies: a POST that only reads, a GET that consumes something. */
  readonly isRepeatable?: boolean;
}

/** What a call answers. */
export type BodyOf<Call> = Call extends { answer: infer Body } ? Body : undefined;
type ListRoute<Calls> = {
  [Route in keyof Calls]: Calls[Route] extends { item: unknown } ? Route : never;
}[keyof Calls] &
  string;
/** What is in the pages of a list. */
export type ItemOf<Call> = Call extends { item: infer Item } ? Item : never;

export interface TypedClient<Calls> extends Pick<UntypedClient, "send"> {
  call<Route extends keyof Calls & string>(
    route: Route,
    input: Input<Calls, Route>,
    options?: CallOptions,
  ): Promise<BodyOf<Calls[Route]>>;
  /** Nothing is requested before the list is read. */
  list<Route extends ListRoute<Calls>>(
    route: Route,
    input: Input<Calls, Route>,
    options?: ListOptions,
  ): ItemList<ItemOf<Calls[Route]>>;
}

/** The client without its table, for code that works with any route, or needs the response's headers. */
export interface UntypedClient {
  send(route: string, input: UntypedInput, options?: CallOptions): Promise<HttpAnswer>;
  list(route: string, input: UntypedInput, options?: ListOptions): ItemList<unknown>;
}

interface UntypedInput extends CallSettings {
  readonly path?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
}

/** @param Calls a generated table; responses are trusted to match /openapi.json */
export function typedClient<Calls>(callService: ServiceClient): TypedClient<Calls> {
  const send = (route: string, input: UntypedInput, options: CallOptions = {}) => {
    const [method = "", template = ""] = route.split(" ");
    const { path = {}, query = {}, body: requestBody, headers } = input;
    // Every method but POST is idempotent (RFC 9110 §9.2.2).
    const isIdempotent = method !== "POST" || headers?.["idempotency-key"] !== undefined;
    return callService({
      method,
      target: fillTemplate(template, path) + toQueryString(query),
      body: requestBody,
      ...(headers ? { headers } : {}),
      isRepeatable: input.isRepeatable ?? isIdempotent,
      signal: options.signal,
    });
  };
  const call = async (...input: Parameters<typeof send>) => (await send(...input)).body;
  const list = (route: string, input: UntypedInput, { pageSize, ...options }: ListOptions = {}) =>
    itemList<unknown>(async (cursor) => {
      const limit = pageSize === undefined ? undefined : String(pageSize);
      return parsePage(await call(route, { ...input, query: { ...input.query, limit, cursor } }, options));
    });
  return { call, send, list } as unknown as TypedClient<Calls>;
}

/** @throws SignetError `request_malformed` for a value that would change the route */
function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    // Empty segments and dot segments change the URL, even when escaped.
    if (value === "" || /^\.{1,2}$/.test(value))
      throw new SignetError("request_malformed", `${name} is not a valid path segment.`);
    return encodeURIComponent(value);
  });
}

function toQueryString(query: Readonly<Record<string, string | undefined>>): string {
  const text = new URLSearchParams(withoutUndefined(query)).toString();
  return text === "" ? "" : `?${text}`;
}

function parsePage(body: unknown): Page<unknown> {
  const { items, nextCursor, total } = isRecord(body) ? body : {};
  if (!Array.isArray(items) || !(nextCursor === null || typeof nextCursor === "string"))
    throw new SignetError("provider_answer", "The service's response is not a list.");
  return { items, nextCursor, ...(typeof total === "number" ? { total } : {}) };
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** Of the whole list, where it was asked for. */
  readonly total?: number;
}

/**
 * In the order of creation, unless another was asked for. Every iteration starts over and requests a page when the previous one is used up.
 * @example
 * for await (const client of management.clients.list()) console.log(client.name);
 */
export interface ItemList<Item> extends AsyncIterable<Item> {
  /** One page, for user interfaces with pagination. */
  page(cursor?: string): Promise<Page<Item>>;
  /** Every page in turn. */
  pages(): AsyncIterable<Page<Item>>;
  /** All items at once, for lists known to be short. */
  toArray(): Promise<Item[]>;
}

export function itemList<Item>(load: (cursor: string | undefined) => Promise<Page<Item>>): ItemList<Item> {
  async function* pages() {
    let cursor: string | undefined;
    const seen = new Set<string>();
    for (;;) {
      const page = await load(cursor);
      yield page;
      const { nextCursor } = page;
      if (nextCursor === null) return;
      // Guards against an endless loop caused by a faulty service.
      if (seen.has(nextCursor))
        throw new SignetError("provider_answer", "The service returned the same page again.");
      seen.add(nextCursor);
      cursor = nextCursor;
    }
  }
  async function* items() {
    for await (const page of pages()) yield* page.items;
  }
  return {
    page: (cursor) => load(cursor),
    pages,
    toArray: async () => {
      const all: Item[] = [];
      for await (const item of items()) all.push(item);
      return all;
    },
    [Symbol.asyncIterator]: items,
  };
}
