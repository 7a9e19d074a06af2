/** What the agent endpoints accept (sovereign-signing.md §5). Unknown members are refused: they are misspelt. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyRequest } from "fastify";
import Type, { type Static, type TSchema } from "typebox";
import { malformed } from "../../../http/api/api-error.ts";
import { parseJson, rawBody } from "../../../http/api/json-body.ts";
import { validator } from "../../../http/api/validation.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { rejectReasons } from "../requests/reject-request.ts";
import { CHALLENGE_TTL_MS, type Challenge, challengeTypes } from "../requests/signing-request.ts";

/** Seconds. */
export const MAX_WAIT = 25;
export const MAX_PENDING = 50;
const MAX_KEYS = 20;
/** Requests of one claim, and signatures of one call. */
export const MAX_BATCH = 32;

const text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description ? { description } : {}) });
const wait = Type.Integer({
  minimum: 0,
  maximum: MAX_WAIT,
  description: "seconds to wait for a request when the queue is empty",
});
const closed = { additionalProperties: false } as const;
const lease = { requestId: text(100), leaseToken: text(200, "from the claim") };

export const claimBody = Type.Object(
  {
    requestId: Type.Optional(text(100, "the request to claim; default: the oldest pending one")),
    kids: Type.Array(text(100), {
      minItems: 1,
      maxItems: MAX_KEYS,
      description: "keys the agent can sign with, preferred first",
    }),
    wait: Type.Optional(wait),
  },
  { title: "SovereignClaim", ...closed },
);

const kids = claimBody.properties.kids;

export const signBody = Type.Object(
  {
    ...lease,
    jwts: Type.Optional(
      Type.Unknown({
        description: "by `use`, e.g. `{access_token, id_token}`: compact JWS over exactly the claimed bytes",
      }),
    ),
    jwt: Type.Optional(
      Type.Unknown({ description: "instead of `jwts` where there is one token or message only" }),
    ),
    approval: Type.Optional(
      Type.Unknown({ description: "the signing agent's own approval, where the pool wants several agents'" }),
    ),
  },
  { title: "SovereignSignature", ...closed },
);

export const signBatchBody = Type.Object(
  {
    signatures: Type.Array(signBody, { minItems: 1, maxItems: MAX_BATCH }),
    claim: Type.Optional(
      Type.Object(
        { kids, max: Type.Integer({ minimum: 1, maximum: MAX_BATCH }) },
        { ...closed, description: "the next requests come with the answer, if any are pending" },
      ),
    ),
  },
  { title: "SovereignSignatures", ...closed },
);

export const approveBody = Type.Object(
  {
    ...lease,
    approval: text(
      8_192,
      "a JWS by one of the agent's keys with typ sovereign-approval+jwt over iss, request, inputs (SHA-256 of each signing input, by use), count and iat",
    ),
  },
  { title: "SovereignApproval", ...closed },
);

/** No extensions: some of them read secrets from the passkey. */
const passkeyOptions = Type.Object(
  {
    challenge: text(
      100,
      "base64url: SHA-256 over the claimed `protected.payload`, several joined by line feeds",
    ),
    rpId: Type.Optional(text(253)),
    allowCredentials: Type.Optional(
      Type.Array(
        Type.Object(
          {
            id: text(1_400),
            type: Type.Literal("public-key"),
            transports: Type.Optional(Type.Array(text(20), { maxItems: 10 })),
          },
          closed,
        ),
        { maxItems: 50 },
      ),
    ),
    userVerification: Type.Optional(Type.Enum(["required", "preferred", "discouraged"])),
    timeout: Type.Optional(Type.Integer({ minimum: 0, description: "milliseconds" })),
    hints: Type.Optional(Type.Array(text(40), { maxItems: 10 })),
  },
  { ...closed, description: "for webauthn: PublicKeyCredentialRequestOptionsJSON" },
);

export const challengeBody = Type.Object(
  {
    ...lease,
    challengeId: text(100, "chosen by the agent; repeating the same id changes nothing"),
    type: Type.Enum([...challengeTypes]),
    prompt: text(200, "shown to the user"),
    display: Type.Optional(text(200, "the number or the transaction to show")),
    options: Type.Optional(Type.Array(text(100), { maxItems: 10 })),
    publicKey: Type.Optional(passkeyOptions),
    ttl: Type.Integer({ minimum: 1, maximum: CHALLENGE_TTL_MS / 1000, description: "seconds" }),
  },
  { title: "SovereignChallenge", ...closed },
);

export const rejectBody = Type.Object(
  {
    ...lease,
    reason: Type.Enum([...rejectReasons]),
    detail: Type.Optional(Type.String({ maxLength: 1_000, description: "for the audit log" })),
    retryable: Type.Optional(
      Type.Boolean({ description: "let another agent claim the request; default: false" }),
    ),
  },
  { title: "SovereignRejection", ...closed },
);

/** Compiled once. The reader throws ApiError (`invalid_request`). */
export function bodyReader<S extends TSchema>(schema: S): (request: FastifyRequest) => Static<S> {
  const check = validator(schema);
  return (request) => {
    const body = parseJson(rawBody(request));
    if (body === undefined) throw malformed("A JSON body is required.");
    return check(body);
  };
}

/** One signature, or several at once: which, the member `signatures` says. */
export function signReader() {
  const one = validator(signBody);
  const several = validator(signBatchBody);
  return (request: FastifyRequest): Static<typeof signBody> | Static<typeof signBatchBody> => {
    const body = parseJson(rawBody(request));
    if (body === undefined) throw malformed("A JSON body is required.");
    return typeof body === "object" && body !== null && Object.hasOwn(body, "signatures")
      ? several(body)
      : one(body);
  };
}

/** @throws ApiError for a challenge that the page could not show */
export function requireShowable({ type, display, publicKey }: Challenge): void {
  if (type === "number_match" && display === undefined) throw malformed("number_match requires display.");
  if (type === "webauthn" && publicKey === undefined) throw malformed("webauthn requires publicKey.");
}

/** @throws OAuthError invalid_request */
function readQuery(request: FastifyRequest) {
  const { values, repeated } = parseQuery(request);
  for (const name of repeated) throw invalid(`${name} must not be repeated`);
  const number = <F>(name: string, [min, max]: readonly [number, number], fallback: F) => {
    const value = values.get(name);
    if (value === undefined) return fallback;
    const isInRange = /^\d{1,2}$/.test(value) && Number(value) >= min && Number(value) <= max;
    if (!isInRange) throw invalid(`${name} must be ${min} to ${max}`);
    return Number(value);
  };
  return { values, number };
}

/**
 * How many requests the agent takes at once. Absent: one, answered as such. An older service ignores it.
 * @throws OAuthError invalid_request
 */
const readClaimMax = (request: FastifyRequest): number | undefined =>
  readQuery(request).number("max", [1, MAX_BATCH], undefined);

export function claimReader() {
  const read = bodyReader(claimBody);
  return (request: FastifyRequest) => {
    const { wait = 0, requestId, kids } = read(request);
    const max = readClaimMax(request);
    if (requestId !== undefined && max !== undefined) throw invalid("max and requestId exclude each other");
    return { requestId, kids, wait, max };
  };
}

/** @throws OAuthError invalid_request */
export function readQueueQuery(request: FastifyRequest) {
  const { values, number } = readQuery(request);
  const list = (name: string) => {
    const ids = (values.get(name) ?? "").split(",").filter((id) => id !== "");
    if (ids.length > MAX_PENDING) throw invalid(`${name} must not have more than ${MAX_PENDING} entries`);
    return [...new Set(ids)];
  };
  return {
    wait: number("wait", [0, MAX_WAIT], 0),
    max: number("max", [0, MAX_PENDING], 10),
    renew: list("renew"),
    /** Challenges whose answers the agent has. */
    known: list("known"),
  };
}

const invalid = (description: string) => new OAuthError("invalid_request", description);
