/** One operation as /openapi.json describes it. Whoever registers a route that answers JSON describes it in this form. */
import Type, { type TSchema } from "typebox";

/** Names of `components.securitySchemes`. */
export type SecurityScheme =
  | "systemAccount"
  | "administratorAccount"
  | "sessionKey"
  | "accessToken"
  | "clientSecretBasic"
  | "agentKey"
  | "deviceCertificate"
  | "browserSession";

export interface DescribedAnswer {
  readonly description: string;
  readonly schema?: TSchema;
  /** `application/json` when left out. */
  readonly contentType?: string;
  /** What each header says. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
  /** Answers of one name are written once, under `components.responses`. */
  readonly sharedAs?: string;
}

export interface DescribedBody {
  readonly contentType:
    | "application/json"
    | "application/x-www-form-urlencoded"
    /** Bytes, which the schema only names. */
    | "application/ocsp-request";
  readonly schema: TSchema;
  readonly isOptional: boolean;
  readonly example?: unknown;
}

export interface DescribedOperation {
  readonly method: string;
  /** As Fastify writes it. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Each alternative suffices; all schemes of one together. Empty for what anybody may call. */
  readonly security: ReadonlyArray<readonly SecurityScheme[]>;
  readonly query?: TSchema;
  /** A system account signs it in the strict form, and in no other. */
  readonly isStrictOnly?: boolean;
  /** Browsers get a page at the same address: a program says that it wants JSON. */
  readonly hasPage?: boolean;
  /** Optional headers of the request, and what each says. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: DescribedBody;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
}

/** RFC 9457. */
export const problemSchema = Type.Object(
  {
    type: Type.String({
      description: "a stable name: `urn:signet:error:` and a code",
      examples: ["urn:signet:error:not-found"],
    }),
    title: Type.String({ examples: ["There is nothing here"] }),
    status: Type.Integer({ examples: [404] }),
    detail: Type.Optional(Type.String({ description: "what to do next" })),
    instance: Type.String({
      description: "the id of the request, as the log has it",
      examples: ["node-1a2b-7"],
    }),
    errors: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
        description: "the members that are wrong: a JSON Pointer into the body, or `?name` for the query",
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
  400: "The request could not be read",
  401: "The request is not authenticated",
  403: "The caller may not do this",
  404: "There is nothing here, or it is another organisation's",
  409: "It conflicts with what is there",
  410: "It was here, and has expired",
  412: "The record was changed since it was read",
  413: "The body is larger than 64 KiB",
  415: "The content type is not supported here",
  422: "Members of the request cannot be used; `errors` names each",
  429: "Too many requests: `Retry-After` says when to try again",
  500: "Something went wrong on our side",
  503: "The service is busy: `Retry-After` says when to try again",
};

const problems: Readonly<Record<number, { readonly code: string; readonly title: string }>> = {
  400: { code: "malformed", title: "The request could not be read" },
  401: { code: "not-authenticated", title: "The request is not authenticated" },
  404: { code: "not-found", title: "There is nothing here" },
  409: { code: "conflict", title: "It is there already" },
  412: { code: "stale", title: "Somebody else changed it meanwhile" },
  413: { code: "too-large", title: "The request body is too large" },
  415: { code: "unsupported-media-type", title: "The content type is not supported here" },
  422: { code: "invalid", title: "The request has members that cannot be used" },
  500: { code: "internal", title: "Something went wrong on our side" },
  503: { code: "unavailable", title: "The service is busy, try again shortly" },
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
      ...(status === 422 ? { errors: [{ path: "/name", message: "is missing" }] } : {}),
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
    const headers = isBusy ? { headers: { "Retry-After": "seconds to wait" } } : {};
    return [status, { description: meanings[status] ?? "Refused", ...headers, ...form(status) }] as const;
  });
  return Object.fromEntries(entries);
}
