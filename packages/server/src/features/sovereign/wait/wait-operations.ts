/** What the wait page asks for, for /openapi.json. */
import Type from "typebox";
import {
  type DescribedAnswer,
  type DescribedOperation,
  oauthErrorAnswers,
} from "../../../http/api/described-operation.ts";
import { challengeTypes, failReasons } from "../requests/signing-request.ts";

const challenge = Type.Object({
  challengeId: Type.String(),
  type: Type.Enum([...challengeTypes]),
  prompt: Type.String(),
  display: Type.Optional(Type.String()),
  options: Type.Optional(Type.Array(Type.String())),
  publicKey: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: "of webauthn: the request options" }),
  ),
  expiresIn: Type.Integer({ description: "seconds" }),
});

const status = Type.Object(
  {
    requestId: Type.String({ examples: ["n0dDuBYIAVxYyrs1hqyOxQ2ZK6dWqBcF"] }),
    status: Type.Enum(["pending", "challenge", "signed", "failed", "expired"]),
    seq: Type.Integer({ description: "grows with every change" }),
    expiresIn: Type.Integer({ description: "seconds until the request expires" }),
    detail: Type.Optional(Type.String({ description: "why it still waits", examples: ["no_agent"] })),
    challenge: Type.Optional(challenge),
    continueUrl: Type.Optional(
      Type.String({ format: "uri", description: "back to the application, once: with a code or an error" }),
    ),
    reason: Type.Optional(Type.Enum([...failReasons])),
  },
  { title: "WaitStatus" },
);

const shared = { tag: "Sovereign signing", security: [["browserSession"]] } as const;
const WAIT = "/oauth/:org/sovereign/wait/:requestId";
const errors = oauthErrorAnswers([400, 404, 500, 503]);
const told: DescribedAnswer = { description: "How the request stands", schema: status };

export const waitOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    method: "GET",
    path: `${WAIT}/status`,
    operationId: "getWaitStatus",
    summary: "How a request stands that a browser waits for",
    answers: { 200: told, ...errors },
  },
  {
    ...shared,
    method: "GET",
    path: `${WAIT}/stream`,
    operationId: "streamWaitStatus",
    summary: "The same as server-sent events, until the request is over",
    description:
      "Each event is named by the status, its id is `seq` and its data the whole status. Who comes back with the final `seq` in `Last-Event-ID` gets 204.",
    headers: { "Last-Event-ID": "the last `seq` that was heard" },
    answers: {
      200: { ...told, contentType: "text/event-stream" },
      204: { description: "The final event was heard" },
      ...errors,
    },
  },
  {
    ...shared,
    method: "POST",
    path: `${WAIT}/respond`,
    operationId: "respondToChallenge",
    summary: "The user's answer to what the agent asks, or that they cancel",
    description: "`csrf` is the wait page's. A form with the same members is answered with a redirect.",
    body: {
      contentType: "application/json",
      isOptional: false,
      schema: Type.Object(
        {
          csrf: Type.String(),
          challengeId: Type.Optional(Type.String()),
          answer: Type.Optional(
            Type.Unknown({ description: "of webauthn the assertion, of number_match anything, else a text" }),
          ),
          cancel: Type.Optional(Type.Boolean()),
        },
        { title: "ChallengeResponse" },
      ),
      example: { csrf: "…", challengeId: "c-1", answer: "492817" },
    },
    answers: {
      202: {
        description: "The agent will have it",
        schema: Type.Object({ status: Type.Literal("accepted") }, { title: "ChallengeResponseTaken" }),
      },
      ...errors,
      ...oauthErrorAnswers([403, 409, 413, 415]),
    },
  },
];
