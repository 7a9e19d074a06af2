/** The wait page's endpoints in /openapi.json. */
import Type from "typebox";
import {
  type DescribedAnswer,
  type DescribedOperation,
  oauthErrorAnswers,
} from "../../../http/api/described-operation.ts";
import { challengeTypes, failReasons } from "../requests/signing-request.ts";

/** What the page says while it waits. */
export type WaitDetail = "no_agent" | "answered" | "withdrawn";

const challenge = Type.Object({
  challengeId: Type.String(),
  type: Type.Enum([...challengeTypes]),
  prompt: Type.String(),
  display: Type.Optional(Type.String()),
  options: Type.Optional(Type.Array(Type.String())),
  publicKey: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: "for webauthn: the request options" }),
  ),
  expiresIn: Type.Integer({ description: "seconds" }),
});

export const waitStatusSchema = Type.Object(
  {
    requestId: Type.String({ examples: ["n0dDuBYIAVxYyrs1hqyOxQ2ZK6dWqBcF"] }),
    status: Type.Enum(["pending", "challenge", "signed", "failed", "expired"]),
    seq: Type.Integer({ description: "increases with every change" }),
    expiresIn: Type.Integer({ description: "seconds until the request expires" }),
    detail: Type.Optional(
      Type.Unsafe<WaitDetail>({
        type: "string",
        description: "why the request is still pending",
        examples: ["no_agent"],
      }),
    ),
    challenge: Type.Optional(challenge),
    continueUrl: Type.Optional(
      Type.String({
        format: "uri",
        description: "leads back to the application, once: with a code or an error",
      }),
    ),
    reason: Type.Optional(Type.Enum([...failReasons])),
  },
  { title: "WaitStatus" },
);

const shared = { tag: "Sovereign signing", security: [["browserSession"]] } as const;
const errors = oauthErrorAnswers([400, 404, 500, 503]);
const statusAnswer: DescribedAnswer = { description: "The status of the request", schema: waitStatusSchema };

export const waitOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    method: "GET",
    path: "/oauth/:org/sovereign/wait/:requestId/status",
    operationId: "getWaitStatus",
    summary: "Get the status of a signing request",
    answers: { 200: statusAnswer, ...errors },
  },
  {
    ...shared,
    method: "GET",
    path: "/oauth/:org/sovereign/wait/:requestId/stream",
    operationId: "streamWaitStatus",
    summary: "Stream the status as server-sent events",
    description:
      "The event name is the status, the id is `seq` and the data is the whole status. The stream ends when the request is final; reconnecting with the final `seq` in `Last-Event-ID` returns 204.",
    headers: { "Last-Event-ID": "the last `seq` received" },
    answers: {
      200: { ...statusAnswer, contentType: "text/event-stream" },
      204: { description: "The final event was received before" },
      ...errors,
    },
  },
  {
    ...shared,
    method: "POST",
    path: "/oauth/:org/sovereign/wait/:requestId/respond",
    operationId: "respondToChallenge",
    summary: "Answer the agent's challenge, or cancel",
    description: "`csrf` comes from the wait page. A form with the same fields is answered with a redirect.",
    body: {
      contentType: "application/json",
      isOptional: false,
      schema: Type.Object(
        {
          csrf: Type.String(),
          challengeId: Type.Optional(Type.String()),
          answer: Type.Optional(
            Type.Unknown({
              description: "the assertion for webauthn, anything for number_match, otherwise a string",
            }),
          ),
          cancel: Type.Optional(Type.Boolean()),
        },
        { title: "ChallengeResponse" },
      ),
      example: { csrf: "…", challengeId: "c-1", answer: "492817" },
    },
    answers: {
      202: {
        description: "The agent gets the answer with its next poll",
        schema: Type.Object({ status: Type.Literal("accepted") }, { title: "ChallengeResponseTaken" }),
      },
      ...errors,
      ...oauthErrorAnswers([403, 409, 413, 415]),
    },
  },
];
