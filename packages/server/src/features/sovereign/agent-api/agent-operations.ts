/** The agent endpoints in /openapi.json. */

import { agentAlgs } from "@signet/protocol/agent-signature";
import Type, { type TSchema } from "typebox";
import { securityProfiles } from "../../../core/applications/security-settings.ts";
import { type DescribedOperation, oauthErrorAnswers } from "../../../http/api/described-operation.ts";
import { tokenUses } from "../requests/signing-request.ts";
import {
  approveBody,
  challengeBody,
  claimBody,
  MAX_BATCH,
  MAX_PENDING,
  MAX_WAIT,
  rejectBody,
  signBatchBody,
  signBody,
} from "./agent-body.ts";

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
        interactive: Type.Boolean({ description: "a browser waits: the user can be challenged" }),
        attempts: Type.Integer(),
        expiresIn: seconds("until the request expires"),
      }),
    ),
    responses: Type.Array(
      Type.Object({
        requestId,
        challengeId: Type.String(),
        outcome: Type.String(),
        answer: Type.Unknown({
          description: "an object for webauthn, true for number_match, otherwise a string",
        }),
      }),
      { description: "answers to this agent's challenges, in every poll until the agent acts on them" },
    ),
    renewed: Type.Array(Type.Object({ requestId, leaseSeconds: Type.Integer() })),
    lost: Type.Array(requestId, { description: "leases that this agent no longer holds" }),
  },
  { title: "SovereignQueue" },
);

const token = Type.Object(
  {
    use: Type.Enum([...tokenUses], { description: "what the bytes are; what is no token is a message" }),
    kid: Type.String(),
    alg: Type.Enum([...agentAlgs]),
    protected: Type.String({ description: "base64url" }),
    payload: Type.String({ description: "base64url; the signing input is `protected.payload`" }),
  },
  { title: "TokenToSign" },
);

export const claimed = Type.Object(
  {
    requestId,
    leaseToken: Type.String({ description: "required in every call about this claim" }),
    leaseSeconds: seconds("lifetime of the lease unless a queue poll renews it"),
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
      authTime: Type.Union([seconds("since 1970, when the user signed in"), Type.Null()]),
      amr: Type.Array(Type.String()),
      ip: Type.String(),
      connection: Type.Optional(
        Type.Object(
          {
            ...{ id: Type.String({ format: "uuid" }), name: Type.String(), kind: Type.String() },
            issuer: Type.String(),
            acr: Type.Optional(Type.String()),
            amr: Type.Optional(Type.Array(Type.String())),
          },
          {
            description:
              "The organisation's identity provider that the user signed in by, and the acr and amr that it claimed",
          },
        ),
      ),
      securityProfile: Type.Enum([...securityProfiles], { description: "Of the application" }),
      binding: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
        description: "What the access token is bound to: `jkt` (DPoP), `x5t#S256` (certificate), or null",
      }),
      resources: Type.Array(Type.String(), { description: "RFC 8707" }),
      authorizationDetails: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        description: "RFC 9396",
      }),
      actor: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description: "Who acts for the subject (RFC 8693), or null",
      }),
      workload: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description: "`iss` and `sub` of the workload that was the client, or null",
      }),
      clientSource: Type.Enum(["registered", "metadata-document", "dynamic"]),
      requestSigned: Type.Union([Type.Boolean(), Type.Null()], {
        description:
          "Whether the client signed the authorization request behind it (RFC 9101); null where none is known: an introspection, an error alone, an ID-JAG",
      }),
      parentRequestId: Type.Union([requestId, Type.Null()]),
    }),
    tokens: Type.Array(token),
    approvals: Type.Optional(
      Type.Object(
        {
          required: Type.Integer({ description: "agents that approve, the one that signs among them" }),
          given: Type.Array(Type.String({ description: "a JWS of typ sovereign-approval+jwt" })),
          kid: Type.String({ description: "the agent's own active key, for its approval" }),
        },
        {
          description:
            "In a pool with approvals: an agent whose key the tokens name signs them, any other approves them",
        },
      ),
    ),
    traceparent: Type.Optional(
      Type.String({
        description: "W3C Trace Context of the request that waits, for the header of the agent's calls",
      }),
    ),
  },
  { title: "ClaimedRequest" },
);

const claimedRequests = Type.Object({ requests: Type.Array(claimed) }, { title: "ClaimedRequests" });

const signatureTaken = Type.Object(
  { requestId, status: Type.Literal("signed") },
  { title: "SovereignSignatureTaken" },
);

const signatureResults = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        requestId,
        status: Type.Optional(Type.Literal("signed")),
        error: Type.Optional(Type.String({ description: "as for a single signature" })),
        error_description: Type.Optional(Type.String()),
        reason: Type.Optional(Type.String()),
        tokens: Type.Optional(Type.Array(token)),
      }),
    ),
    requests: Type.Array(claimed, { description: "the next ones; empty when none are pending" }),
  },
  { title: "SovereignSignatureResults" },
);

const errors = oauthErrorAnswers([400, 401, 404, 409, 413, 415, 429, 500, 503]);

const operation = (
  path: string,
  described: Pick<DescribedOperation, "operationId" | "summary" | "description" | "answers" | "query">,
  body: { readonly schema: TSchema; readonly example: object },
): DescribedOperation => ({
  ...described,
  method: "POST",
  path,
  tag: "Sovereign signing",
  security: [["agentKey"]],
  body: { contentType: "application/json", isOptional: false, ...body },
  answers: { ...errors, ...described.answers },
});

const lease = { requestId: "n0dDuBYIAVxYyrs1hqyOxQ2ZK6dWqBcF", leaseToken: "sgn_lt_…" };

export const agentOperations: readonly DescribedOperation[] = [
  {
    method: "GET",
    path: "/oauth/:org/sovereign/agent/queue",
    operationId: "pollSigningQueue",
    summary: "Poll the pool's queue",
    description:
      "Returns the pending requests of the agent's pool and the answers to its challenges. With `wait` the call is held until there is something; `renew` extends leases.",
    tag: "Sovereign signing",
    security: [["agentKey"]],
    query: Type.Object({
      wait: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_WAIT })),
      max: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_PENDING })),
      renew: Type.Optional(Type.String({ description: "ids of claimed requests, comma-separated" })),
      known: Type.Optional(
        Type.String({ description: "ids of answered challenges to leave out, comma-separated" }),
      ),
    }),
    answers: {
      200: { description: "The queue", schema: queue },
      ...oauthErrorAnswers([400, 401, 404, 429, 500, 503]),
    },
  },
  operation(
    "/oauth/:org/sovereign/agent/claim",
    {
      operationId: "claimSigningRequest",
      summary: "Claim the oldest pending request, or one by its id",
      description:
        "Renders the tokens for the first active key in `kids`. With `wait` the call is held until there is a request. With `max` the answer is `{requests: […]}`, the oldest pending ones.",
      query: Type.Object({ max: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_BATCH })) }),
      answers: {
        200: {
          description: "The request and its tokens to sign; with `max` several",
          schema: Type.Union([claimed, claimedRequests]),
        },
        204: { description: "The queue is empty" },
        ...oauthErrorAnswers([422]),
      },
    },
    { schema: claimBody, example: { kids: ["NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"] } },
  ),
  operation(
    "/oauth/:org/sovereign/agent/sign",
    {
      operationId: "submitSignedTokens",
      summary: "Submit the signed tokens of a claimed request, or of several",
      description:
        "Header and payload of each JWT must be exactly the claimed bytes. `stale_payload` returns newly rendered `tokens` for the same lease; `invalid_signed_jwt` returns a `reason`, and the third one fails the request. With `signatures`, each has its own result, in order, and `claim` brings the next requests with the answer.",
      answers: {
        200: {
          description: "The tokens are accepted",
          schema: Type.Union([signatureTaken, signatureResults]),
        },
        ...oauthErrorAnswers([410, 422]),
      },
    },
    {
      schema: Type.Union([signBody, signBatchBody]),
      example: { ...lease, jwts: { access_token: "eyJhbGciOiJFUzI1NiJ9…" } },
    },
  ),
  operation(
    "/oauth/:org/sovereign/agent/approve",
    {
      operationId: "approveSigningRequest",
      summary: "Approve the tokens of a claimed request that another agent will sign",
      description:
        "In pools with `approvals`. `invalid_approval` returns a `reason`: `malformed`, `bytes_mismatch` or `bad_signature`; the third one fails the request.",
      answers: {
        200: {
          description: "The approval is kept",
          schema: Type.Object(
            { requestId, status: Type.Literal("approved"), approvals: Type.Integer() },
            { title: "SovereignApprovalTaken" },
          ),
        },
        ...oauthErrorAnswers([410, 422]),
      },
    },
    { schema: approveBody, example: { ...lease, approval: "eyJhbGciOiJFUzI1NiJ9…" } },
  ),
  operation(
    "/oauth/:org/sovereign/agent/challenge",
    {
      operationId: "challengeUser",
      summary: "Challenge the user before signing",
      description:
        "Works while a browser waits. Repeating a `challengeId` changes nothing. The answer comes with the queue.",
      answers: {
        202: {
          description: "The challenge is open",
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
    "/oauth/:org/sovereign/agent/reject",
    {
      operationId: "rejectSigningRequest",
      summary: "Reject a claimed request",
      answers: {
        200: {
          description: "`pending` when another agent may claim the request, otherwise `failed`",
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
