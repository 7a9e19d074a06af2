/** What the endpoints of threshold agents accept. Unknown members are refused: they are misspelt. */
import { MAX_SIGNERS, MIN_SIGNERS } from "@signet/protocol/threshold/group";
import Type from "typebox";
import { MAX_BATCH, MAX_WAIT } from "../agent-api/agent-body.ts";
import { rejectReasons } from "../requests/reject-request.ts";
import { byUse } from "../requests/signing-request.ts";
import { MAX_COMMITMENTS } from "./stock.ts";

const closed = { additionalProperties: false } as const;
const text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description ? { description } : {}) });
const point = (description: string) => Type.String({ minLength: 43, maxLength: 43, description });
const kid = text(100, "of the group key");

/** A ceremony's message, with room for the shares of all members. */
const MAX_MESSAGE = 4_096 + MAX_SIGNERS * 512;

export const messageBody = Type.Object(
  {
    ceremonyId: Type.String({ format: "uuid" }),
    message: text(
      MAX_MESSAGE,
      "compact JWS of the agent's identity key, typ threshold-join+jwt, threshold-shares+jwt, threshold-reshare-join+jwt, threshold-deal+jwt, threshold-confirmation+jwt or threshold-abort+jwt",
    ),
  },
  { title: "ThresholdMessage", ...closed },
);

export const reshareBody = Type.Object(
  {
    members: Type.Array(Type.String({ format: "uuid" }), {
      minItems: MIN_SIGNERS,
      maxItems: MAX_SIGNERS,
      description: "the agents that are to have shares of the key, as many as the pool's `max`",
    }),
  },
  { title: "ThresholdReshare", ...closed },
);

const boot = Type.Object(
  {
    count: Type.Integer({ minimum: 1, description: "how often the agent has been started" }),
    id: Type.String({ minLength: 22, maxLength: 43, description: "random, of this start" }),
  },
  {
    ...closed,
    description: "an agent that was started less often than ever before was restored from a backup",
  },
);

export const commitmentsBody = Type.Object(
  {
    boot,
    kid,
    commitments: Type.Array(
      Type.Object(
        { hiding: point("base64url"), binding: point("base64url") },
        { ...closed, description: "RFC 9591 §5.1" },
      ),
      { maxItems: MAX_COMMITMENTS },
    ),
  },
  { title: "ThresholdCommitments", ...closed },
);

export const claimBody = Type.Object(
  {
    boot,
    wait: Type.Optional(
      Type.Integer({ minimum: 0, maximum: MAX_WAIT, description: "seconds to wait when there is nothing" }),
    ),
    max: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_BATCH })),
  },
  { title: "ThresholdClaim", ...closed },
);

const share = Type.String({
  maxLength: 86,
  description:
    "a scalar (RFC 9591 §5.2), or the group commitment that the agent reckoned (§4.5) and the scalar; base64url",
});

const part = Type.Object(
  {
    requestId: text(100),
    leaseToken: text(200, "from the claim"),
    shares: Type.Optional(Type.Object(byUse(Type.Optional(share)), { ...closed, description: "by use" })),
    rejection: Type.Optional(
      Type.Object(
        {
          reason: Type.Enum([...rejectReasons]),
          detail: Type.Optional(Type.String({ maxLength: 1_000, description: "for the audit log" })),
        },
        { ...closed, description: "instead of shares: other agents may sign it" },
      ),
    ),
  },
  closed,
);

export const sharesBody = Type.Object(
  {
    boot,
    parts: Type.Array(part, { minItems: 1, maxItems: MAX_BATCH }),
    claim: Type.Optional(
      Type.Object(
        { max: Type.Integer({ minimum: 1, maximum: MAX_BATCH }) },
        { ...closed, description: "the next rounds come with the answer, if there are any" },
      ),
    ),
  },
  { title: "ThresholdShares", ...closed },
);
