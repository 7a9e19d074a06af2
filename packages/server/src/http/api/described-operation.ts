/** An operation as /openapi.json describes it, for routes that register without `apiRoute`. */
import Type, { type TSchema } from "typebox";

/** Names of `components.securitySchemes`. */
export type SecurityScheme =
  | "systemAccount"
  | "administratorAccount"
  | "sessionKey"
  | "accessToken"
  | "apiToken"
  | "clientSecretBasic"
  | "registrationToken"
  | "agentKey"
  | "deviceCertificate"
  | "browserSession";

export interface DescribedAnswer {
  readonly description: string;
  readonly schema?: TSchema;
  /** `application/json` when left out. */
  readonly contentType?: string;
  /** Descriptions by header name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
  /** Responses with the same name appear once, under `components.responses`. */
  readonly sharedAs?: string;
}

export interface DescribedBody {
  readonly contentType:
    | "application/json"
    | "application/x-www-form-urlencoded"
    /** Binary: the schema only names it. */
    | "application/ocsp-request";
  readonly schema: TSchema;
  readonly isOptional: boolean;
  readonly example?: unknown;
}

export interface DescribedOperation {
  readonly method: string;
  /** With Fastify's parameters, e.g. `/oauth/:org/token`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Alternatives; all schemes of one alternative are required together. Empty: no authentication. */
  readonly security: ReadonlyArray<readonly SecurityScheme[]>;
  readonly query?: TSchema;
  /** Accepts the strict form of a system account's signature only. */
  readonly isStrictOnly?: boolean;
  /** The same path serves a page to browsers: API clients send `Accept: application/json`. */
  readonly hasPage?: boolean;
  /** Descriptions of optional request headers, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: DescribedBody;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
}

/** RFC 9457. */
export const problemSchema = Type.Object(
  {
    type: Type.String({
      description: "Stable: `urn:signet:error:` and a code",
      examples: ["urn:signet:error:not-found"],
    }),
    title: Type.String({ examples: ["Not found"] }),
    status: Type.Integer({ examples: [404] }),
    detail: Type.Optional(Type.String({ description: "How to fix the request" })),
    instance: Type.String({ description: "The request id, as in the log", examples: ["node-1a2b-7"] }),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: "The invalid members: a JSON Pointer into the body, or `?name` for a query parameter",
      }),
    ),
  },
  { title: "Problem" },
);

/** RFC 6749 §5.2. */
export const oauthErrorSchema = Type.Object(
  {
    error: Type.String({ examples: ["invalid_request"] }),
    error_description: Type.String({ examples: ["grant_type is missing"] }),
  },
  { title: "OAuthError" },
);

const meanings: Readonly<Record<number, string>> = {
  400: "The request is malformed",
  401: "Authentication failed",
  403: "The caller lacks permission",
  404: "Not found in this organisation",
  409: "Conflicts with an existing record",
  410: "Expired",
  412: "The record has changed since it was read",
  413: "The body is larger than 64 KiB",
  415: "Unsupported content type",
  422: "Invalid members; `errors` lists each one",
  429: "Too many requests; retry after `Retry-After` seconds",
  431: "The address and the headers are larger than 16 KiB",
  500: "Internal server error",
  503: "Temporarily unavailable; retry after `Retry-After` seconds",
};

const problems: Readonly<Record<number, { readonly code: string; readonly title: string }>> = {
  400: { code: "malformed", title: "The request is malformed" },
  401: { code: "not-authenticated", title: "The request is not authenticated" },
  404: { code: "not-found", title: "Not found" },
  409: { code: "conflict", title: "The record conflicts with an existing one" },
  412: { code: "stale", title: "The record was changed by another request" },
  413: { code: "too-large", title: "The request body is too large" },
  415: { code: "unsupported-media-type", title: "Unsupported content type" },
  422: { code: "invalid", title: "The request is invalid" },
  431: { code: "headers-too-large", title: "The headers are too large" },
  500: { code: "internal", title: "Internal server error" },
  503: { code: "unavailable", title: "The service is temporarily unavailable" },
};

const oauthCodes: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "invalid_client",
  403: "insufficient_scope",
  429: "temporarily_unavailable",
  500: "server_error",
  503: "temporarily_unavailable",
};

type Answers = Readonly<Record<number, DescribedAnswer>>;

export const problemAnswers = (statuses: readonly number[]): Answers =>
  answersOf(statuses, (status) => ({
    schema: problemSchema,
    contentType: "application/problem+json",
    sharedAs: `Problem${status}`,
    example: {
      type: `urn:signet:error:${problems[status]?.code ?? "refused"}`,
      title: problems[status]?.title ?? meanings[status],
      status,
      instance: "node-1a2b-7",
      ...(status === 422 ? { errors: [{ path: "/name", message: "is required" }] } : {}),
    },
  }));

export const oauthErrorAnswers = (statuses: readonly number[]): Answers =>
  answersOf(statuses, (status) => ({
    schema: oauthErrorSchema,
    sharedAs: `OAuthError${status}`,
    example: { error: oauthCodes[status] ?? "invalid_request", error_description: meanings[status] },
  }));

function answersOf(
  statuses: readonly number[],
  form: (status: number) => Omit<DescribedAnswer, "description">,
): Answers {
  const entries = statuses.map((status) => {
    const isBusy = status === 429 || status === 503;
    const headers = {
      ...(isBusy ? { "Retry-After": "seconds to wait" } : {}),
      ...(status === 401 ? { "WWW-Authenticate": "the scheme that authenticates" } : {}),
    };
    const named = Object.keys(headers).length > 0 ? { headers } : {};
    return [status, { description: meanings[status] ?? "Error", ...named, ...form(status) }] as const;
  });
  return Object.fromEntries(entries);
}
