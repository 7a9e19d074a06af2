/** The messages between service and agent, and their schemas (sovereign-signing.md §5). */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";

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
const shortText = Type.String({ maxLength: 1_000 });

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
  parentRequestId: nullable(Type.String()),
});
export type RequestContext = Static<typeof contextSchema>;

// 192 random bits; bounded here because it goes into logs and URLs.
const requestId = Type.String({ pattern: "^[A-Za-z0-9_-]{1,128}$" });

const claimedSchema = Type.Object({
  requestId,
  leaseToken: Type.String({ minLength: 1, maxLength: 512 }),
  leaseSeconds: Type.Number({ minimum: 0 }),
  attempt: Type.Number(),
  expiresIn: Type.Number(),
  interactive: Type.Boolean(),
  context: contextSchema,
  tokens: Type.Array(tokenSchema, { minItems: 1, maxItems: 2 }),
});
export type ClaimedRequest = Static<typeof claimedSchema>;

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

const staleSchema = Type.Object({ tokens: Type.Array(tokenSchema, { minItems: 1, maxItems: 2 }) });
const errorSchema = Type.Object({
  error: Type.String(),
  reason: Type.Optional(Type.String()),
  error_description: Type.Optional(Type.String()),
});

export const claimedRequestMessage = Compile(claimedSchema);
export const queueMessage = Compile(queueSchema);
export const staleTokensMessage = Compile(staleSchema);
export const errorMessage = Compile(errorSchema);

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

export interface SignedJwts {
  readonly access_token: string;
  readonly id_token?: string;
}
