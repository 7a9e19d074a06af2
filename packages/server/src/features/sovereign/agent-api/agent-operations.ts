/** The agent endpoints for /openapi.json. */
import { agentAlgs } from "@signet/protocol/agent-signature";
import Type, { type TSchema } from "typebox";
import { type DescribedOperation, oauthErrorAnswers } from "../../../http/api/described-operation.ts";
import { challengeBody, claimBody, LONGEST_WAIT, MOST_PENDING, rejectBody, signBody } from "./agent-body.ts";

const requestId = Type.String({ examples: ["n0dDuBYIAVxYyrs1hqyOxQ2ZK6dWqBcF"] });
const seconds = (description: string) => Type.Integer({ description: `seconds: ${description}` });

const queue = Type.Object(
  {
    serverTime: Type.Integer({ description: "milliseconds since 1970" }),
    pending: Type.Array(
      Type.Object({
        requestId,
        grantType: Type.String(),
        clientId: Type.String({ format: "uuid" }),
        interactive: Type.Boolean({ description: "a browser waits: the user can be asked" }),
        attempts: Type.Integer(),
        expiresIn: seconds("until the request expires"),
      }),
    ),
    responses: Type.Array(
      Type.Object({
        requestId,
        challengeId: Type.String(),
        outcome: Type.String(),
        answer: Type.Unknown({ description: "of webauthn an object, of number_match true, else a text" }),
      }),
      { description: "answers to this agent's challenges, until it acts on them" },
    ),
    renewed: Type.Array(Type.Object({ requestId, leaseSeconds: Type.Integer() })),
    lost: Type.Array(requestId, { description: "leases that this agent does not have any more" }),
  },
  { title: "SovereignQueue" },
);

const token = Type.Object(
  {
    use: Type.Enum(["access_token", "id_token"]),
    kid: Type.String(),
    alg: Type.Enum([...agentAlgs]),
    protected: Type.String({ description: "base64url" }),
    payload: Type.String({ description: "base64url; what is signed is `protected.payload`" }),
  },
  { title: "TokenToSign" },
);

const claimed = Type.Object(
  {
    requestId,
    leaseToken: Type.String({ description: "for every call about this claim" }),
    leaseSeconds: seconds("how long the lease lasts unless it is renewed by the queue"),
    attempt: Type.Integer(),
    expiresIn: seconds("until the request expires"),
    interactive: Type.Boolean(),
    context: Type.Object({
      issuer: Type.String({ format: "uri" }),
      clientId: Type.String({ format: "uuid" }),
      clientName: Type.String(),
      grantType: Type.String(),
      scope: Type.Array(Type.String()),
      sub: Type.String(),
      authTime: Type.Optional(seconds("since 1970, when the user signed in")),
      amr: Type.Optional(Type.Array(Type.String())),
      ip: Type.String(),
      parentRequestId: Type.Optional(requestId),
    }),
    tokens: Type.Array(token),
  },
  { title: "ClaimedRequest" },
);

const errors = oauthErrorAnswers([400, 401, 404, 409, 413, 415, 429, 500, 503]);

const operation = (
  name: string,
  what: Pick<DescribedOperation, "operationId" | "summary" | "description" | "answers">,
  body: { readonly schema: TSchema; readonly example: object },
): DescribedOperation => ({
  ...what,
  method: "POST",
  path: `/oauth/:org/sovereign/agent/${name}`,
  tag: "Sovereign signing",
  security: [["agentKey"]],
  body: { contentType: "application/json", isOptional: false, ...body },
  answers: { ...errors, ...what.answers },
});

const lease = { requestId: "n0dDuBYIAVxYyrs1hqyOxQ2ZK6dWqBcF", leaseToken: "sgn_lt_…" };

export const agentOperations: readonly DescribedOperation[] = [
  {
    method: "GET",
    path: "/oauth/:org/sovereign/agent/queue",
    operationId: "pollSigningQueue",
    summary: "What waits in the agent's pool, and the answers to its challenges",
    description: "Held until there is something when `wait` is given. Leases live on with `renew`.",
    tag: "Sovereign signing",
    security: [["agentKey"]],
    query: Type.Object({
      wait: Type.Optional(Type.Integer({ minimum: 0, maximum: LONGEST_WAIT })),
      max: Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_PENDING })),
      renew: Type.Optional(Type.String({ description: "ids of claimed requests, with commas between" })),
      known: Type.Optional(
        Type.String({ description: "ids of challenges whose answers came before: they are left out" }),
      ),
    }),
    answers: {
      200: { description: "The queue", schema: queue },
      ...oauthErrorAnswers([400, 401, 404, 429, 500, 503]),
    },
  },
  operation(
    "claim",
    {
      operationId: "claimSigningRequest",
      summary: "Take the oldest request that waits, or one by its id",
      description:
        "The tokens are made anew for the first of `kids` that is active. With `wait` the call is held until there is a request.",
      answers: {
        200: { description: "The request, and what is to be signed", schema: claimed },
        204: { description: "Nothing waits" },
        ...oauthErrorAnswers([422]),
      },
    },
    { schema: claimBody, example: { kids: ["NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"] } },
  ),
  operation(
    "sign",
    {
      operationId: "submitSignedTokens",
      summary: "Hand in the signed tokens of a claimed request",
      description:
        "The first two parts of each must be exactly what was claimed. `stale_payload` comes with `tokens`, made anew for the same lease; `invalid_signed_jwt` with a `reason`, and the third of it fails the request.",
      answers: {
        200: {
          description: "They are taken",
          schema: Type.Object(
            { requestId, status: Type.Literal("signed") },
            { title: "SovereignSignatureTaken" },
          ),
        },
        ...oauthErrorAnswers([410, 422]),
      },
    },
    { schema: signBody, example: { ...lease, jwts: { access_token: "eyJhbGciOiJFUzI1NiJ9…" } } },
  ),
  operation(
    "challenge",
    {
      operationId: "challengeUser",
      summary: "Ask the user who waits in a browser, before signing",
      description: "The same `challengeId` again changes nothing. The answer comes by the queue.",
      answers: {
        202: {
          description: "The user is asked",
          schema: Type.Object(
            { status: Type.Literal("challenge"), leaseSeconds: Type.Integer() },
            { title: "SovereignChallengeTaken" },
          ),
        },
        ...oauthErrorAnswers([410]),
      },
    },
    {
      schema: challengeBody,
      example: {
        ...lease,
        challengeId: "c-1",
        type: "number_match",
        prompt: "Enter this number in your authenticator",
        display: "42",
        ttl: 60,
      },
    },
  ),
  operation(
    "reject",
    {
      operationId: "rejectSigningRequest",
      summary: "Give a claimed request back, or refuse it",
      answers: {
        200: {
          description: "`pending` when another agent may have it, else `failed`",
          schema: Type.Object(
            { status: Type.Enum(["failed", "pending"]) },
            { title: "SovereignRejectionTaken" },
          ),
        },
        ...oauthErrorAnswers([410]),
      },
    },
    { schema: rejectBody, example: { ...lease, reason: "policy_denied", retryable: false } },
  ),
];
