/** The service as an agent sees it: its addresses, five calls, and what their answers mean (sovereign-signing.md §5). */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Refusal } from "../agent/refusal.ts";
import { inTrace, type Lease, named } from "./calls-in-trace.ts";
import { type JsonAnswer, type JsonClient, MAX_BYTES } from "./json-client.ts";

/** The service answered, but with an error or something unexpected. `unauthorized`: it does not accept the API key. */
export class ServiceError extends Error {
  override name = "ServiceError";
  readonly kind: "unauthorized" | "busy" | "unexpected";
  readonly retryAfter: number | undefined;

  constructor(kind: ServiceError["kind"], message: string, retryAfter?: number) {
    super(message);
    this.kind = kind;
    this.retryAfter = retryAfter;
  }
}

export type ClaimAnswer =
  | {
      readonly outcome: "claimed";
      readonly requests: readonly ClaimedRequest[];
      /** Whether the service hands out several at once, and takes several signatures. */
      readonly inBatches: boolean;
    }
  | { readonly outcome: "nothing" | "no_usable_key" };

export interface Signed {
  readonly lease: Lease;
  readonly jwts: SignedJwts;
  /** This agent's own, where the pool wants several agents'. */
  readonly approval?: string | undefined;
}

export type ApproveAnswer =
  | { readonly outcome: "approved" }
  /** Nothing more can be done with this lease. */
  | { readonly outcome: "over" | "invalid"; readonly reason: string };

export type BatchAnswer =
  | {
      readonly outcome: "answered";
      /** In the order of the signatures. */
      readonly results: readonly SignAnswer[];
      readonly requests: readonly ClaimedRequest[];
    }
  /** The service, or the node of it that answered, takes signatures one by one only. */
  | { readonly outcome: "unsupported" };

export type SignAnswer =
  | { readonly outcome: "signed" }
  | { readonly outcome: "stale_payload"; readonly tokens: readonly TokenToSign[] }
  /** Nothing more can be done with this lease. */
  | { readonly outcome: "over" | "invalid"; readonly reason: string };

export type ChallengeAnswer = "asked" | "not_interactive" | "challenge_limit" | "over";

/** How long the service may hold a call. */
interface Wait {
  /** Seconds. */
  readonly wait: number;
  readonly signal?: AbortSignal;
}

interface Poll extends Wait {
  readonly renew: readonly string[];
  /** Challenges whose answers have come: the service leaves these out and waits for others. */
  readonly known?: readonly string[];
}

/** All throw CallFailed without an answer, and ServiceError. */
export type SigningService = ReturnType<typeof signingService>;

/** Requests and signatures of one call; the service's limit is higher. */
export const MAX_BATCH = 16;
/** Of a call with signatures: the service takes 64 KiB. */
export const MAX_BATCH_BYTES = 60_000;

const TIMEOUT_MS = 15_000;
const MAX_DETAIL = 200;

const boundsOf =
  (headers: Readonly<Record<string, string>>) =>
  ({ wait, signal }: Wait) => ({ headers, timeoutMs: TIMEOUT_MS + wait * 1000, signal });

const poster =
  (client: JsonClient, url: string, headers: Readonly<Record<string, string>>) =>
  (
    path: string,
    content: object,
    { max = 1, trace, ...wait }: Wait & { max?: number; trace?: string | undefined } = { wait: 0 },
  ) => {
    const traced = { ...headers, ...(trace !== undefined && { traceparent: trace }) };
    const body = JSON.stringify(content);
    const maxBytes = MAX_BYTES * max;
    return client.call({ method: "POST", url: `${url}${path}`, body, maxBytes, ...boundsOf(traced)(wait) });
  };

/** @param url of the organisation's sovereign endpoints: `{service}/oauth/{org}/sovereign` */
export function signingService(client: JsonClient, url: string, apiKey: string) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const bounds = boundsOf(headers);
  const post = poster(client, url, headers);
  return {
    queue: async ({ renew, known = [], ...wait }: Poll): Promise<QueueAnswer> => {
      // `max=0`: requests come from `claim`; a poll is for leases and users' answers.
      const query = new URLSearchParams({ wait: String(wait.wait), max: "0" });
      if (renew.length > 0) query.set("renew", renew.join(","));
      if (known.length > 0) query.set("known", known.join(","));
      const address = `${url}/agent/queue?${query}`;
      const answer = await client.call({ method: "GET", url: address, ...bounds(wait) });
      if (answer.status === 200 && queueMessage.Check(answer.body)) return answer.body;
      throw serviceError("queue", answer);
    },
    /** An older service ignores `max` and hands out one. */
    claim: async (
      kids: readonly string[],
      { max, ...wait }: Wait & { max: number },
    ): Promise<ClaimAnswer> => {
      return readClaimAnswer(
        await post(`/agent/claim?max=${max}`, { kids, wait: wait.wait }, { ...wait, max }),
      );
    },
    sign: async (signed: Signed): Promise<SignAnswer> =>
      readSignAnswer(await post("/agent/sign", signatureOf(signed), inTrace([signed.lease]))),
    approve: async (lease: Lease, approval: string): Promise<ApproveAnswer> =>
      readApproveAnswer(await post("/agent/approve", { ...named(lease), approval }, inTrace([lease]))),
    /** @param claim asks for the next requests, which come with the answer */
    signBatch: async (
      signed: readonly Signed[],
      claim: { readonly kids: readonly string[]; readonly max: number } | undefined,
    ): Promise<BatchAnswer> => {
      const content = { signatures: signed.map(signatureOf), ...(claim ? { claim } : {}) };
      const answer = await post("/agent/sign", content, {
        ...inTrace(signed.map(({ lease }) => lease)),
        max: claim?.max ?? 1,
      });
      return readBatchAnswer(answer, signed);
    },
    challenge: async (lease: Lease, challenge: ChallengeMessage): Promise<ChallengeAnswer> => {
      const answer = await post("/agent/challenge", { ...named(lease), ...challenge }, inTrace([lease]));
      if (answer.status === 202) return "asked";
      for (const outcome of ["not_interactive", "challenge_limit"] as const)
        if (isError(answer, 409, outcome)) return outcome;
      if (isOver(answer)) return "over";
      throw serviceError("challenge", answer);
    },
    /** A request that is over already needs no rejection. */
    reject: async (lease: Lease, { reason, retryable, message }: Refusal): Promise<void> => {
      const detail = message.slice(0, MAX_DETAIL);
      const answer = await post(
        "/agent/reject",
        { ...named(lease), reason, retryable, detail },
        inTrace([lease]),
      );
      if (answer.status !== 200 && !isOver(answer)) throw serviceError("reject", answer);
    },
  };
}

const signatureOf = ({ lease, jwts, approval }: Signed) => ({
  ...{ ...named(lease), jwts },
  ...(approval === undefined ? {} : { approval }),
});

function readApproveAnswer(answer: JsonAnswer): ApproveAnswer {
  if (answer.status === 200) return { outcome: "approved" };
  if (isOver(answer)) return { outcome: "over", reason: describeAnswer(answer) };
  if (answer.status === 422) return { outcome: "invalid", reason: describeAnswer(answer) };
  throw serviceError("approve", answer);
}

function readClaimAnswer(answer: JsonAnswer): ClaimAnswer {
  if (answer.status === 204 || isError(answer, 409, "not_claimable")) return { outcome: "nothing" };
  if (isError(answer, 422, "no_usable_key")) return { outcome: "no_usable_key" };
  if (answer.status === 200 && claimedRequestsMessage.Check(answer.body))
    return { outcome: "claimed", requests: answer.body.requests, inBatches: true };
  if (answer.status === 200 && claimedRequestMessage.Check(answer.body))
    return { outcome: "claimed", requests: [answer.body], inBatches: false };
  throw serviceError("claim", answer);
}

function readSignAnswer(answer: JsonAnswer): SignAnswer {
  if (answer.status === 200) return { outcome: "signed" };
  if (isError(answer, 409, "stale_payload") && staleTokensMessage.Check(answer.body))
    return { outcome: "stale_payload", tokens: answer.body.tokens };
  if (isOver(answer)) return { outcome: "over", reason: describeAnswer(answer) };
  if (answer.status === 422) return { outcome: "invalid", reason: describeAnswer(answer) };
  throw serviceError("sign", answer);
}

const UNSUPPORTED = [400, 413];

/** Every signature has its result, in order: another one's would be taken for it. */
function readBatchAnswer(answer: JsonAnswer, signed: readonly Signed[]): BatchAnswer {
  if (UNSUPPORTED.includes(answer.status)) return { outcome: "unsupported" };
  if (answer.status !== 200 || !batchMessage.Check(answer.body)) throw serviceError("sign", answer);
  const { results, requests } = answer.body;
  const isInOrder =
    results.length === signed.length &&
    results.every(({ requestId }, index) => requestId === signed[index]?.lease.requestId);
  if (!isInOrder) throw serviceError("sign", answer);
  return { outcome: "answered", results: results.map(readResult), requests };
}

function readResult(body: Static<typeof batchSchema>["results"][number]): SignAnswer {
  if (body.error === undefined) return { outcome: "signed" };
  if (body.error === "stale_payload" && body.tokens) return { outcome: body.error, tokens: body.tokens };
  const reason = describeAnswer({ status: 200, body, retryAfter: undefined, location: undefined });
  const isInvalid = body.error === "invalid_signed_jwt" || body.error === "invalid_approval";
  return { outcome: isInvalid ? "invalid" : "over", reason };
}

/** The lease is lost, or the request is gone. */
const isOver = ({ status }: JsonAnswer): boolean => status === 404 || status === 409 || status === 410;

const isError = (answer: JsonAnswer, status: number, code: string): boolean =>
  answer.status === status && errorMessage.Check(answer.body) && answer.body.error === code;

/** The service's own words, made safe for a log. */
function describeAnswer({ status, body }: JsonAnswer): string {
  if (!errorMessage.Check(body)) return `status ${status}`;
  const text = body.reason === undefined ? body.error : `${body.error} (${body.reason})`;
  return text.slice(0, MAX_DETAIL).replace(/[^\x20-\x7e]/g, "?");
}

export function serviceError(call: string, answer: JsonAnswer): ServiceError {
  const { status, retryAfter } = answer;
  const kind = status === 401 ? "unauthorized" : status === 429 || status >= 500 ? "busy" : "unexpected";
  return new ServiceError(kind, `${call}: ${describeAnswer(answer)}`, retryAfter);
}

const nullable = <Inner extends Parameters<typeof Type.Optional>[0]>(inner: Inner) =>
  Type.Optional(Type.Union([inner, Type.Null()]));

const tokenSchema = Type.Object({
  use: Type.String(),
  kid: Type.String(),
  alg: Type.String(),
  protected: Type.String({ maxLength: 32_768 }),
  payload: Type.String({ maxLength: 32_768 }),
});
/** `protected` and `payload` are base64url. */
export type TokenToSign = Static<typeof tokenSchema>;

// Goes into the journal, the log and questions to users, even when it is a lie.
/** An issuer has up to 2,048 characters. */
const shortText = Type.String({ maxLength: 2_048 });

/** The identity provider that the user signed in by, and what it claimed. */
const connectionSchema = Type.Object({
  ...{ id: shortText, name: shortText, kind: shortText, issuer: shortText },
  acr: nullable(shortText),
  amr: nullable(Type.Array(shortText, { maxItems: 100 })),
});

const contextSchema = Type.Object({
  issuer: shortText,
  clientId: shortText,
  clientName: nullable(shortText),
  grantType: shortText,
  scope: Type.Array(Type.String()),
  sub: shortText,
  authTime: nullable(Type.Number()),
  amr: nullable(Type.Array(Type.String())),
  ip: nullable(Type.String()),
  connection: nullable(connectionSchema),
  // Absent where the service is older; a policy that demands one of them then refuses.
  binding: nullable(Type.Record(shortText, shortText)),
  resources: nullable(Type.Array(shortText, { maxItems: 100 })),
  authorizationDetails: nullable(Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 100 })),
  actor: nullable(Type.Record(Type.String(), Type.Unknown())),
  parentRequestId: nullable(Type.String()),
});
export type RequestContext = Static<typeof contextSchema>;

// 192 random bits; bounded here because it goes into logs and URLs.
const requestId = Type.String({ pattern: "^[A-Za-z0-9_-]{1,128}$" });

/** An access token, an ID token and an authorization response. */
const staleTokens = { tokens: Type.Array(tokenSchema, { minItems: 1, maxItems: 3 }) };
const staleTokensMessage = Compile(Type.Object(staleTokens));

export const claimedSchema = Type.Object({
  requestId,
  leaseToken: Type.String({ minLength: 1, maxLength: 512 }),
  leaseSeconds: Type.Number({ minimum: 0 }),
  attempt: Type.Number(),
  expiresIn: Type.Number(),
  interactive: Type.Boolean(),
  context: contextSchema,
  // Whatever it is: nothing is signed or refused because of it.
  traceparent: Type.Optional(Type.Unknown()),
  /** What others have approved; `required` is the service's word, and counts for nothing. */
  approvals: Type.Optional(
    Type.Object({
      required: Type.Number(),
      given: Type.Array(Type.String({ maxLength: 8_192 }), { maxItems: 50 }),
      kid: Type.Optional(Type.String()),
    }),
  ),
  ...staleTokens,
});
export type ClaimedRequest = Static<typeof claimedSchema>;
const claimedRequestMessage = Compile(claimedSchema);

const claimedList = Type.Array(claimedSchema, { maxItems: MAX_BATCH });
const claimedRequestsMessage = Compile(Type.Object({ requests: claimedList }));

const batchSchema = Type.Object({
  results: Type.Array(
    Type.Union([
      Type.Object({ requestId, status: Type.Literal("signed"), error: Type.Optional(Type.Undefined()) }),
      Type.Object({
        requestId,
        error: Type.String(),
        reason: Type.Optional(Type.String()),
        tokens: Type.Optional(staleTokens.tokens),
      }),
    ]),
  ),
  requests: claimedList,
});
const batchMessage = Compile(batchSchema);

const queueSchema = Type.Object({
  serverTime: Type.Union([Type.String(), Type.Number()]),
  responses: Type.Array(
    Type.Object({
      requestId,
      challengeId: Type.String({ maxLength: 128 }),
      outcome: Type.String(),
      answer: Type.Optional(Type.Unknown()),
    }),
  ),
  renewed: Type.Array(Type.Object({ requestId, leaseSeconds: Type.Number() })),
  lost: Type.Array(Type.String()),
});
export type QueueAnswer = Static<typeof queueSchema>;
const queueMessage = Compile(queueSchema);

const errorMessage = Compile(
  Type.Object({
    error: Type.String(),
    reason: Type.Optional(Type.String()),
    error_description: Type.Optional(Type.String()),
  }),
);

/** A challenge for the wait page; `ttl` in seconds. */
export interface ChallengeMessage {
  readonly challengeId: string;
  readonly type: "number_match" | "webauthn" | "pin" | "confirm";
  readonly prompt: string;
  readonly display?: string;
  readonly options?: readonly string[];
  readonly publicKey?: Readonly<Record<string, unknown>>;
  readonly ttl: number;
}

/** By use. */
export type SignedJwts = Readonly<Record<string, string>>;

export interface PoolAddress {
  /** The service's URL, with or without a trailing slash. */
  readonly service: string;
  readonly organisation: string;
  readonly pool: string;
}

/** `{service}/oauth/{org}/sovereign` */
export const sovereignUrl = ({ service, organisation }: Omit<PoolAddress, "pool">): string =>
  `${service.replace(/\/+$/, "")}/oauth/${organisation}/sovereign`;

/** The audience of a key's proof of possession, and by default the issuer of the pool's tokens. */
export const poolUrl = (address: PoolAddress): string => `${sovereignUrl(address)}/pools/${address.pool}`;
