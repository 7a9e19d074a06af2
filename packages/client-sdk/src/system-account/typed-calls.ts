/** Calls by their route, typed by the table that is generated from /openapi.json. */
import { SignetError } from "../errors.ts";
import { isRecord } from "../tokens/claims.ts";
import { type ItemList, itemList } from "./item-list.ts";
import type { CallService } from "./service-calls.ts";

/** Of any call. */
export interface CallOptions {
  /** Ends the call, and its waiting for another attempt. */
  readonly signal?: AbortSignal | undefined;
}

type Named<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Named<Rest>
  : never;
type InPath<Route extends string> = [Named<Route>] extends [never]
  ? { readonly path?: undefined }
  : { readonly path: Readonly<Record<Named<Route>, string>> };

/** What a call takes: its parameters, its body, headers, and whether it does the same however often it arrives. */
type Given<Calls, Route extends keyof Calls & string> = InPath<Route> & {
  readonly [Part in keyof Calls[Route] as Part extends "query" | "body" ? Part : never]: Calls[Route][Part];
} & Manner;

interface Manner {
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the method does not tell: a POST that only reads, a GET that uses something up. */
  readonly isRepeatable?: boolean;
}

type AnswerOf<Call> = Call extends { answer: infer Answer } ? Answer : undefined;
type ListRoute<Calls> = {
  [Route in keyof Calls]: Calls[Route] extends { item: unknown } ? Route : never;
}[keyof Calls] &
  string;
type ItemOf<Call> = Call extends { item: infer Item } ? Item : never;

export interface TypedCalls<Calls> {
  call<Route extends keyof Calls & string>(
    route: Route,
    given: Given<Calls, Route>,
    options?: CallOptions,
  ): Promise<{ readonly body: AnswerOf<Calls[Route]>; readonly headers: Headers }>;
  /** Nothing is asked before somebody reads the list. */
  list<Route extends ListRoute<Calls>>(
    route: Route,
    given: Given<Calls, Route>,
    options?: ListOptions,
  ): ItemList<ItemOf<Calls[Route]>>;
}

/** Of a call for a list. */
export interface ListOptions extends CallOptions {
  /** Items asked for at once, 1 to 200. Default 50. */
  readonly pageSize?: number;
}

interface AnyGiven extends Manner {
  readonly path?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: unknown;
}

/** Every method but POST does the same however often it arrives (RFC 9110 §9.2.2). */
const isSafe = (method: string, headers: Manner["headers"]): boolean =>
  method !== "POST" || headers?.["idempotency-key"] !== undefined;

/** @param Calls a generated table; what the service answers is taken to be as its /openapi.json says */
export function typedCalls<Calls>(callService: CallService): TypedCalls<Calls> {
  const send = async (route: string, given: AnyGiven, options: CallOptions = {}) => {
    const [method = "", template = ""] = route.split(" ");
    const { path = {}, query = {}, body, headers } = given;
    const answer = await callService({
      method,
      target: filled(template, path) + queryString(query),
      body,
      ...(headers ? { headers } : {}),
      isRepeatable: given.isRepeatable ?? isSafe(method, headers),
      signal: options.signal,
    });
    return { body: answer.body, headers: answer.headers };
  };
  const list = (route: string, given: AnyGiven, { pageSize, ...options }: ListOptions = {}) =>
    itemList<unknown>(async (cursor) => {
      const limit = pageSize === undefined ? undefined : String(pageSize);
      const { body } = await send(route, { ...given, query: { ...given.query, limit, cursor } }, options);
      return pageOf(body);
    });
  return { call: send, list } as unknown as TypedCalls<Calls>;
}

/** @throws SignetError `request_malformed` for a value that would make another address of it */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    // An empty segment is another address, and so is one of dots, which no escape keeps from being resolved.
    if (value === "" || /^\.{1,2}$/.test(value))
      throw new SignetError("request_malformed", `${name} is no value for an address.`);
    return encodeURIComponent(value);
  });
}

function queryString(query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

function pageOf(body: unknown): { items: unknown[]; nextCursor: string | null } {
  const { items, nextCursor } = isRecord(body) ? body : {};
  if (!Array.isArray(items) || !(nextCursor === null || typeof nextCursor === "string"))
    throw new SignetError("provider_answer", "The service's answer is no list.");
  return { items, nextCursor };
}
