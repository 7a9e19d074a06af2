/** The endpoints of threshold agents in /openapi.json. */
import Type, { type TSchema } from "typebox";
import { type DescribedOperation, oauthErrorAnswers } from "../../../http/api/described-operation.ts";
import { claimed } from "../agent-api/agent-operations.ts";
import { byUse } from "../requests/signing-request.ts";
import { claimBody, commitmentsBody, messageBody, reshareBody, sharesBody } from "./threshold-body.ts";

const uuid = Type.String({ format: "uuid" });
const kid = Type.String({ description: "RFC 7638" });
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const pool = Type.Object(
  {
    pool: Type.String({ format: "uri", description: "the pool's URL, the audience of all messages" }),
    threshold: Type.Object({ min: Type.Integer(), max: Type.Integer() }),
    agentId: uuid,
    agents: Type.Array(Type.Object({ agentId: uuid, name: Type.String(), kid }), {
      description: "the pool's active agents and their identity keys",
    }),
    keys: Type.Array(Type.Object({ kid, ceremonyId: uuid, state: Type.String() })),
    ceremony: nullable(
      Type.Object({
        ceremonyId: uuid,
        kind: Type.String({ description: "create, or reshare: other agents get shares of the same key" }),
        state: Type.String({ description: "joining, sharing, confirming, complete or aborted" }),
        ...{ min: Type.Integer(), max: Type.Integer(), begunBy: uuid },
        ...{ kid: nullable(kid), endReason: nullable(Type.String()) },
        from: nullable(
          Type.String({ format: "uuid", description: "the ceremony that the old shares are from" }),
        ),
        members: Type.Array(uuid, { description: "of a resharing: the agents that are to have shares" }),
        messages: Type.Array(Type.Object({ agentId: uuid, round: Type.String(), message: Type.String() })),
      }),
    ),
  },
  { title: "ThresholdPool" },
);

const point = Type.String({ description: "base64url" });
const commitments = Type.Array(Type.Object({ kid, hiding: point, binding: point }), {
  description: "of all who sign, by their identity keys (RFC 9591 §5.2)",
});
const round = Type.Object(
  {
    ...claimed.properties,
    ceremony: Type.String({ format: "uuid", description: "that the signers have their shares from" }),
    commitments: Type.Object(byUse(Type.Optional(commitments))),
  },
  { title: "ThresholdRound" },
);
const rounds = {
  rounds: Type.Array(round),
  kid: nullable(kid),
  ceremony: nullable(uuid),
  stock: Type.Integer({ description: "the agent's unused commitments" }),
};

const shared = { tag: "Sovereign signing", security: [["agentKey"]] } as const;
const errors = oauthErrorAnswers([400, 401, 404, 409, 413, 415, 429, 500, 503]);
const boot = { count: 7, id: "Yk1yTn0wQmVyR3JpZVdhcw" };

const operation = (
  name: string,
  described: Pick<DescribedOperation, "operationId" | "summary" | "description" | "answers">,
  body: { readonly schema: TSchema; readonly example: object },
): DescribedOperation => ({
  ...shared,
  ...described,
  method: "POST",
  path: `/oauth/:org/sovereign/agent/threshold/${name}`,
  body: { contentType: "application/json", isOptional: false, ...body },
  answers: { ...errors, ...described.answers },
});

export const thresholdOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    method: "GET",
    path: "/oauth/:org/sovereign/agent/threshold",
    operationId: "readThresholdPool",
    summary: "Read the pool's agents, keys and key ceremony",
    query: Type.Object({
      ceremony: Type.Optional(Type.String({ description: "a ceremony's id; default: the newest one" })),
    }),
    answers: { 200: { description: "The pool", schema: pool }, ...errors },
  },
  {
    ...shared,
    method: "POST",
    path: "/oauth/:org/sovereign/agent/threshold/ceremonies",
    operationId: "beginKeyCeremony",
    summary: "Begin a key ceremony",
    description: "One at a time. As many agents as the pool's `max` take part.",
    answers: {
      201: {
        description: "The ceremony has begun",
        schema: Type.Object({ ceremonyId: uuid }, { title: "KeyCeremonyBegun" }),
      },
      ...errors,
    },
  },
  operation(
    "reshares",
    {
      operationId: "beginKeyReshare",
      summary: "Begin a resharing of the pool's key",
      description:
        "The named agents get shares of the same key, which `min` of its members deal to them; the old shares end once all named agents have confirmed.",
      answers: {
        201: {
          description: "The resharing has begun",
          schema: Type.Object({ ceremonyId: uuid }, { title: "KeyReshareBegun" }),
        },
        ...oauthErrorAnswers([422]),
      },
    },
    {
      schema: reshareBody,
      example: {
        members: ["01998d6e-0000-7000-8000-000000000000", "01998d6e-0000-7000-8000-000000000001"],
      },
    },
  ),
  operation(
    "messages",
    {
      operationId: "postCeremonyMessage",
      summary: "Post a message of a key ceremony",
      description: "Signed by the agent's identity key. A repeated message changes nothing.",
      answers: {
        200: {
          description: "The message is kept",
          schema: Type.Object({ ceremonyId: uuid, state: Type.String() }, { title: "KeyCeremonyState" }),
        },
        ...oauthErrorAnswers([422]),
      },
    },
    {
      schema: messageBody,
      example: { ceremonyId: "01998d6e-0000-7000-8000-000000000000", message: "eyJhbGciOiJFZERTQSJ9…" },
    },
  ),
  operation(
    "commitments",
    {
      operationId: "publishNonceCommitments",
      summary: "Publish nonce commitments for signatures to come",
      description: "Each is used for one signature. Also registers a start of the agent: see `boot`.",
      answers: {
        200: {
          description: "The stock after it",
          schema: Type.Object({ stock: Type.Integer() }, { title: "CommitmentStock" }),
        },
        ...oauthErrorAnswers([422]),
      },
    },
    {
      schema: commitmentsBody,
      example: { boot, kid: "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", commitments: [] },
    },
  ),
  operation(
    "claim",
    {
      operationId: "claimThresholdRounds",
      summary: "Claim the rounds that this agent is asked to sign in",
      description: "With `wait` the call is held until there is one.",
      answers: {
        200: { description: "The rounds", schema: Type.Object(rounds, { title: "ThresholdRounds" }) },
      },
    },
    { schema: claimBody, example: { boot, wait: 20, max: 16 } },
  ),
  operation(
    "shares",
    {
      operationId: "submitSignatureShares",
      summary: "Submit shares of signatures, or reject rounds",
      description:
        "The last share of a round completes its signatures. Each part has its own result, in order.",
      answers: {
        200: {
          description: "The results",
          schema: Type.Object(
            {
              results: Type.Array(
                Type.Object({
                  requestId: Type.String(),
                  status: Type.Optional(Type.String({ description: "accepted, signed or rejected" })),
                  error: Type.Optional(
                    Type.String({ description: "lease_lost, share_conflict or invalid_share" }),
                  ),
                }),
              ),
              ...rounds,
            },
            { title: "ThresholdShareResults" },
          ),
        },
      },
    },
    {
      schema: sharesBody,
      example: {
        boot,
        parts: [
          {
            requestId: "n0dDuBYIAVxYyrs1hqyOxQ2ZK6dWqBcF",
            leaseToken: "sgn_lt_…",
            shares: { access_token: "ABcZq1pT7hoSCVzQiP0UlwLAcgzl_S8p2-zyS3KBtgM" },
          },
        ],
      },
    },
  ),
];
