/** The bodies of the agent endpoints (sovereign-signing.md §5). A member that is not known is refused: misspelt, it would mean nothing. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyRequest } from "fastify";
import Type, { type Static, type TSchema } from "typebox";
import { malformed } from "../../../http/api/api-error.ts";
import { parseJson, rawBody } from "../../../http/api/json-body.ts";
import { validator } from "../../../http/api/validation.ts";
import { queryOf } from "../../../http/form-body.ts";
import { CHALLENGE_TTL_MS, challengeTypes } from "../requests/signing-request.ts";
import { rejectReasons } from "./request-messages.ts";

/** Seconds: an agent's call is held so long at most. */
export const LONGEST_WAIT = 25;
export const MOST_PENDING = 50;
const MOST_KEYS = 20;

const text = (most: number, description?: string) =>
  Type.String({ minLength: 1, maxLength: most, ...(description ? { description } : {}) });
const wait = Type.Integer({
  minimum: 0,
  maximum: LONGEST_WAIT,
  description: "seconds to wait for a request when there is none",
});
const closed = { additionalProperties: false } as const;
const lease = { requestId: text(100), leaseToken: text(200, "as the claim has told it") };

export const claimBody = Type.Object(
  {
    requestId: Type.Optional(text(100, "this one; the oldest that waits when it is left out")),
    kids: Type.Array(text(100), {
      minItems: 1,
      maxItems: MOST_KEYS,
      description: "the keys that the agent can sign with",
    }),
    wait: Type.Optional(wait),
  },
  { title: "SovereignClaim", ...closed },
);

export const signBody = Type.Object(
  {
    ...lease,
    jwts: Type.Optional(
      Type.Unknown({
        description: "`{access_token, id_token?}`: compact JWS over exactly the bytes claimed",
      }),
    ),
    jwt: Type.Optional(Type.Unknown({ description: "instead of `jwts`, when there is a single token" })),
  },
  { title: "SovereignSignature", ...closed },
);

/** No extensions: some of them read secrets out of the passkey that are not the agent's. */
const passkeyOptions = Type.Object(
  {
    challenge: text(
      100,
      "base64url: SHA-256 over the claimed `protected.payload`, of two with a line feed between",
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
  { ...closed, description: "of webauthn: PublicKeyCredentialRequestOptionsJSON" },
);

export const challengeBody = Type.Object(
  {
    ...lease,
    challengeId: text(100, "the agent's own: the same one again changes nothing"),
    type: Type.Enum([...challengeTypes]),
    prompt: text(200, "shown to the user"),
    display: Type.Optional(text(200, "the number or the transaction that the page shows")),
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
    retryable: Type.Optional(Type.Boolean({ description: "another agent may have it; false when left out" })),
  },
  { title: "SovereignRejection", ...closed },
);

/** Compiled once. @returns reads a request's body. @throws ApiError what the endpoint tells as `invalid_request` */
export function bodyReader<S extends TSchema>(schema: S): (request: FastifyRequest) => Static<S> {
  const check = validator(schema);
  return (request) => {
    const sent = parseJson(rawBody(request));
    if (sent === undefined) throw malformed("A JSON body is expected.");
    return check(sent);
  };
}

/** What the page could not show, or the agent could not check an answer to. */
export function requireShowable({ type, display, publicKey }: Static<typeof challengeBody>): void {
  if (type === "number_match" && display === undefined) throw malformed("number_match needs display.");
  if (type === "webauthn" && publicKey === undefined) throw malformed("webauthn needs publicKey.");
}

export interface QueueQuery {
  /** Seconds. */
  readonly wait: number;
  readonly max: number;
  readonly renew: readonly string[];
  /** Challenges whose answers the agent has heard: they are no news. */
  readonly known: readonly string[];
}

/** @throws OAuthError invalid_request */
export function readQueueQuery(request: FastifyRequest): QueueQuery {
  const { values, repeated } = queryOf(request);
  for (const name of repeated) throw unusable(`${name} came more than once`);
  const number = (name: string, most: number, otherwise: number) => {
    const value = values.get(name);
    if (value === undefined) return otherwise;
    if (!/^\d{1,2}$/.test(value) || Number(value) > most) throw unusable(`${name} must be 0 to ${most}`);
    return Number(value);
  };
  const list = (name: string) => {
    const ids = (values.get(name) ?? "").split(",").filter((id) => id !== "");
    if (ids.length > MOST_PENDING) throw unusable(`${name} names more than ${MOST_PENDING}`);
    return [...new Set(ids)];
  };
  return {
    wait: number("wait", LONGEST_WAIT, 0),
    max: number("max", MOST_PENDING, 10),
    renew: list("renew"),
    known: list("known"),
  };
}

const unusable = (what: string) => new OAuthError("invalid_request", what);
