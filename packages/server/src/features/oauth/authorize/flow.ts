/**
 * An authorization request on its way through the pages: its parameters and start time, sealed so that the browser can
 * carry but not change them. The server stores nothing. The seal grants no rights: every step checks session, client and
 * request again.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Form } from "@signet/protocol/form";
import { consentRequestHash, type RequestedScopes } from "../../../core/consents/consent.ts";
import type { Macs } from "../../../core/encryption/macs.ts";
import { type Prompt, requestParameters } from "./request/authorization-request.ts";

export interface Flow {
  readonly orgId: string;
  readonly parameters: ReadonlyArray<readonly [string, string]>;
  /** Milliseconds: a sign-in after this satisfies `prompt=login` and `max_age`. */
  readonly startedAt: number;
  /** Set when the sign-in is for a page of this server and not for an application. */
  readonly page?: InternalPage;
  /** Absent when the parameters came with the browser, unsigned. */
  readonly origin?: FlowOrigin;
}

/** How the request arrived (received-request.ts). */
export type FlowOrigin = (
  | {
      /** SHA-256 of the request_uri of a pushed request, which the response uses up. */
      readonly pushed: string;
      /** Milliseconds: no flow with it is opened from then on, however often its pages have sealed it anew. */
      readonly until: number;
    }
  | { readonly pushed?: never; readonly until?: never }
) & {
  /** The client has signed it. */
  readonly isSigned?: boolean;
};

/** A page of this server that needs a sign-in. Its path comes from code, never from a request. */
export interface InternalPage {
  /** How the sign-in page names it: a key of the messages' `places`. */
  readonly place: Place;
  readonly path: string;
  /** The application that the legacy federation leads to: its settings apply to the sign-in. */
  readonly applicationId?: string;
}

export type Place = "account" | "request" | "device" | "devices" | "console" | "application";

export interface Flows {
  seal(flow: Flow): string;
  /** Undefined if it was altered, has expired or belongs to another organisation. */
  open(sealed: string | undefined, orgId: string, now: number): Flow | undefined;
}

export const FLOW_LIFETIME_MS = 24 * 3600 * 1000;

/** @param macs under keys that are derived from the master keys for this purpose, so that every node opens what another sealed */
export function flows(macs: Macs): Flows {
  return {
    seal: ({ orgId, parameters, startedAt, page, origin }) => {
      const content = [
        startedAt,
        parameters,
        ...(page || origin ? [page ?? null] : []),
        ...(origin ? [origin] : []),
      ];
      const body = pack(JSON.stringify(content));
      return `${body}.${macs.of(`${orgId}|${body}`)}`;
    },
    open: (sealed, orgId, now) => {
      const [body, presented, ...rest] = (sealed ?? "").split(".");
      if (!body || !presented || rest.length > 0) return undefined;
      if (!macs.isOf(`${orgId}|${body}`, presented)) return undefined;
      const [startedAt, parameters, page, origin] = JSON.parse(unpack(body)) as [
        number,
        Flow["parameters"],
        InternalPage | null | undefined,
        FlowOrigin | undefined,
      ];
      if (Math.min(startedAt + FLOW_LIFETIME_MS, origin?.until ?? Number.POSITIVE_INFINITY) <= now)
        return undefined;
      return { orgId, parameters, startedAt, ...(page ? { page } : {}), ...(origin ? { origin } : {}) };
    },
  };
}

/** Larger ones are compressed: the pages carry the flow in their addresses. */
const MAX_PLAIN = 2_000;
/** No base64url has it. */
const PACKED = "~";

const pack = (text: string): string =>
  text.length <= MAX_PLAIN
    ? Buffer.from(text).toString("base64url")
    : PACKED + deflateRawSync(text).toString("base64url");

/** Of a body whose seal has been verified. */
const unpack = (body: string): string =>
  body.startsWith(PACKED)
    ? inflateRawSync(Buffer.from(body.slice(1), "base64url")).toString()
    : Buffer.from(body, "base64url").toString();

export function createFlow(orgId: string, form: Form, startedAt: number, origin?: FlowOrigin): Flow {
  const parameters = formParameters(form).filter(([name]) => requestParameters.has(name));
  return { orgId, parameters, startedAt, ...(origin ? { origin } : {}) };
}

export function formParameters(form: Form): Flow["parameters"] {
  return [...form.values].flatMap(([name, value]) =>
    (form.allValues.get(name) ?? [value]).map((one) => [name, one] as const),
  );
}

export const flowForm = ({ parameters }: Flow): Form => parametersForm(parameters);

export function parametersForm(parameters: Flow["parameters"]): Form {
  const values = new Map<string, string>();
  const allValues = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const first = values.get(name);
    if (first === undefined) values.set(name, value);
    else allValues.set(name, [...(allValues.get(name) ?? [first]), value]);
  }
  return { values, repeated: new Set(allValues.keys()), allValues };
}

export function withPrompts(flow: Flow, prompts: readonly Prompt[]): Flow {
  const others = flow.parameters.filter(([name]) => name !== "prompt");
  return { ...flow, parameters: prompts.length === 0 ? others : [...others, ["prompt", prompts.join(" ")]] };
}

/** Parameter of a page's flow: the signed-in user confirms their identity. */
export const CONFIRMATION = "confirmation";

/** Parameter of a flow whose address is known: it stands in `login_hint`. No request can send it. */
const IDENTIFIED = "identified";

/** Whoever signs in has typed their address (connections.md §3, email-first). */
export const withEmail = (flow: Flow, email: string): Flow => ({
  ...flow,
  parameters: [
    ...flow.parameters.filter(([name]) => name !== "login_hint" && name !== IDENTIFIED),
    ["login_hint", email],
    [IDENTIFIED, "true"],
  ],
});

export const identifiedEmail = (flow: Flow): string | undefined => {
  const { values } = flowForm(flow);
  return values.has(IDENTIFIED) ? values.get("login_hint") : undefined;
};

export const withoutEmail = (flow: Flow): Flow =>
  identifiedEmail(flow) === undefined
    ? flow
    : {
        ...flow,
        parameters: flow.parameters.filter(([name]) => name !== "login_hint" && name !== IDENTIFIED),
      };

/** Parameter of a flow that waits for an agent: its user has allowed what this hash is of. No request can send it. */
const CONSENTED = "consented";

const consentOf = (access: RequestedScopes, userId: string): string =>
  `${userId}.${consentRequestHash(access)}`;

/** Not for a browser to carry: whoever holds it is not asked for authorization details again. */
export const withConsent = (flow: Flow, access: RequestedScopes, userId: string): Flow => ({
  ...flow,
  parameters: [
    ...flow.parameters.filter(([name]) => name !== CONSENTED),
    [CONSENTED, consentOf(access, userId)],
  ],
});

export const hasConsented = (flow: Flow, access: RequestedScopes, userId: string | undefined): boolean =>
  userId !== undefined && flowForm(flow).values.get(CONSENTED) === consentOf(access, userId);

/** The same request, started now, with a sign-in by any user first. */
export function withAnotherAccount(flow: Flow, prompts: readonly Prompt[], now: number): Flow {
  const parameters = withoutEmail(flow).parameters.filter(([name]) => name !== CONFIRMATION);
  return withPrompts({ ...flow, parameters, startedAt: now }, [...new Set<Prompt>(["login", ...prompts])]);
}
