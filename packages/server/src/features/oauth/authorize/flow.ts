/**
 * An authorization request on its way through the pages: its parameters and when it began, sealed so that the browser
 * carries them and cannot change them. Nothing is kept on the server, so that no page expires: what is stale is looked
 * at again. The seal gives no rights: every step checks session, client and request anew.
 */
import { createHmac } from "node:crypto";
import type { Form } from "@signet/protocol/form";
import { constantTimeEqual } from "@signet/protocol/hash";
import { type Prompt, requestParameters } from "./request/authorization-request.ts";

export interface Flow {
  readonly orgId: string;
  /** In their order, repeated ones included. */
  readonly parameters: ReadonlyArray<readonly [string, string]>;
  /** Milliseconds: a sign-in after it satisfies `prompt=login` and `max_age`. */
  readonly startedAt: number;
  /** Set when the sign-in is for a page of our own: there is no application to answer, the browser goes there. */
  readonly page?: OwnPage;
}

/** A page of ours that wants somebody signed in. Its address comes from our code alone, never from a request. */
export interface OwnPage {
  /** What the sign-in page says it leads to: a member of the messages' `places`. */
  readonly place: Place;
  /** A path of this organisation, query included. */
  readonly path: string;
  /** The application that the page leads on to, by the legacy federation: the sign-in is judged by its settings. */
  readonly applicationId?: string;
}

export type Place = "account" | "device" | "devices" | "console" | "application";

export interface Flows {
  seal(flow: Flow): string;
  /** Undefined for what was altered, is too old, or belongs to another organisation. */
  open(sealed: string | undefined, orgId: string, now: number): Flow | undefined;
}

const LIFETIME_MS = 24 * 3600 * 1000;

/** @param key derived from the master key for this purpose, so that any node opens what another sealed */
export function flows(key: Buffer): Flows {
  const mac = (orgId: string, body: string) =>
    createHmac("sha256", key).update(`${orgId}|${body}`).digest("base64url");
  return {
    seal: ({ orgId, parameters, startedAt, page }) => {
      const content = page ? [startedAt, parameters, page] : [startedAt, parameters];
      const body = Buffer.from(JSON.stringify(content)).toString("base64url");
      return `${body}.${mac(orgId, body)}`;
    },
    open: (sealed, orgId, now) => {
      const [body, presented, ...rest] = (sealed ?? "").split(".");
      if (!body || !presented || rest.length > 0 || !constantTimeEqual(mac(orgId, body), presented))
        return undefined;
      const [startedAt, parameters, page] = JSON.parse(Buffer.from(body, "base64url").toString()) as [
        number,
        Flow["parameters"],
        OwnPage | undefined,
      ];
      if (startedAt + LIFETIME_MS <= now) return undefined;
      return { orgId, parameters, startedAt, ...(page ? { page } : {}) };
    },
  };
}

export function flowOf(orgId: string, form: Form, startedAt: number): Flow {
  const parameters = parametersOf(form).filter(([name]) => requestParameters.has(name));
  return { orgId, parameters, startedAt };
}

/** All that a form says, repeated ones included. */
export function parametersOf(form: Form): Flow["parameters"] {
  return [...form.values].flatMap(([name, value]) =>
    (form.allValues.get(name) ?? [value]).map((one) => [name, one] as const),
  );
}

export function formOfFlow({ parameters }: Flow): Form {
  const values = new Map<string, string>();
  const allValues = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const first = values.get(name);
    if (first === undefined) values.set(name, value);
    else allValues.set(name, [...(allValues.get(name) ?? [first]), value]);
  }
  return { values, repeated: new Set(allValues.keys()), allValues };
}

/** The same request with other prompts. */
export function withPrompts(flow: Flow, prompts: readonly Prompt[]): Flow {
  const others = flow.parameters.filter(([name]) => name !== "prompt");
  return { ...flow, parameters: prompts.length === 0 ? others : [...others, ["prompt", prompts.join(" ")]] };
}

/** Of a page's flow alone: the sign-in is to show that whoever is signed in is there. */
export const CONFIRMATION = "confirmation";

/** The same request from now on, with a sign-in first, of anybody; the other wishes stay. */
export function withAnotherAccount(flow: Flow, prompts: readonly Prompt[], now: number): Flow {
  const parameters = flow.parameters.filter(([name]) => name !== CONFIRMATION);
  const anybodys = { ...flow, parameters, startedAt: now };
  return withPrompts(anybodys, [...new Set<Prompt>(["login", ...prompts])]);
}
