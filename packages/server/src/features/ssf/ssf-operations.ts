/** The transmitter of shared signals in /openapi.json. */
import Type, { type TSchema } from "typebox";
import { deliveryMethods, streamStatuses } from "../../core/event-streams/event-stream.ts";
import {
  type DescribedAnswer,
  type DescribedOperation,
  problemAnswers,
} from "../../http/api/described-operation.ts";

const uri = Type.String({ format: "uri" });
const streamId = Type.String({ format: "uuid" });
const events = Type.Array(Type.String(), { description: "URIs of event types" });
const delivery = Type.Object({
  method: Type.Enum([...deliveryMethods]),
  endpoint_url: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const supplied = {
  delivery: Type.Optional(
    Type.Object({
      method: Type.Enum([...deliveryMethods]),
      endpoint_url: Type.Optional(Type.String({ description: "Of the receiver, where it is pushed" })),
      authorization_header: Type.Optional(Type.String({ description: "Never read back" })),
    }),
  ),
  events_requested: Type.Optional(events),
  description: Type.Optional(Type.String({ maxLength: 500 })),
};

const stream = Type.Object(
  {
    ...{ stream_id: streamId, iss: uri, aud: Type.String({ description: "The client" }), delivery },
    ...{ events_supported: events, events_requested: events, events_delivered: events },
    ...{ format: Type.Literal("iss_sub"), min_verification_interval: Type.Integer() },
    description: Type.Optional(Type.String()),
  },
  { title: "EventStream" },
);
const newStream = Type.Object(supplied, { title: "NewEventStream" });
const changedStream = Type.Object({ stream_id: streamId, ...supplied }, { title: "EventStreamChange" });
const status = Type.Object(
  {
    ...{ stream_id: streamId, status: Type.Enum([...streamStatuses]) },
    reason: Type.Optional(Type.String({ maxLength: 500 })),
  },
  { title: "EventStreamStatus" },
);
const subject = Type.Object(
  {
    stream_id: streamId,
    subject: Type.Union([
      Type.Object({ format: Type.Literal("iss_sub"), iss: Type.String(), sub: Type.String() }),
      Type.Object({ format: Type.Literal("email"), email: Type.String() }),
    ]),
  },
  { title: "EventStreamSubject" },
);
const verification = Type.Object(
  { stream_id: streamId, state: Type.Optional(Type.String({ maxLength: 1_000 })) },
  { title: "EventStreamVerification" },
);
const poll = Type.Object(
  {
    maxEvents: Type.Optional(Type.Integer({ minimum: 0 })),
    returnImmediately: Type.Optional(Type.Boolean()),
    ack: Type.Optional(Type.Array(Type.String())),
    setErrs: Type.Optional(Type.Record(Type.String(), Type.Object({ err: Type.String() }))),
  },
  { title: "EventPoll" },
);
const polled = Type.Object(
  {
    sets: Type.Record(Type.String(), Type.String(), { description: "Signed tokens, by `jti`" }),
    moreAvailable: Type.Boolean(),
  },
  { title: "PolledEvents" },
);
const metadata = Type.Object(
  {
    ...{ spec_version: Type.Literal("1_0"), issuer: uri, jwks_uri: uri },
    delivery_methods_supported: Type.Array(Type.String()),
    ...{ configuration_endpoint: uri, status_endpoint: uri, verification_endpoint: uri },
    ...{ add_subject_endpoint: uri, remove_subject_endpoint: uri },
    authorization_schemes: Type.Array(Type.Object({ spec_urn: Type.String() })),
    default_subjects: Type.Literal("ALL"),
  },
  { title: "TransmitterMetadata" },
);

const STREAMS = "/oauth/:org/ssf/streams";
const named = Type.Object({ stream_id: streamId });
const exampleStream = { stream_id: "01998d6e-5c1e-7d3a-8a4b-6f0e2d9c7b15" };
const exampleSubject = { format: "email", email: "ada@example.com" };

interface Told {
  readonly scope: "ssf.read" | "ssf.manage";
  readonly body?: readonly [schema: TSchema, example: object];
  readonly query?: TSchema;
  readonly answer: readonly [status: number, answer: DescribedAnswer];
  readonly errors?: readonly number[];
}

const operation = (
  [method, path, operationId, summary]: readonly [string, string, string, string],
  { scope, body, query, answer: [code, answer], errors = [] }: Told,
): DescribedOperation => ({
  ...{ method, path, operationId, summary, tag: "Shared signals", security: [["apiToken"]] },
  description: `Scope: \`${scope}\`, in a token of the client's own.`,
  ...(query ? { query } : {}),
  ...(body
    ? { body: { contentType: "application/json", schema: body[0], isOptional: false, example: body[1] } }
    : {}),
  answers: {
    [code]: answer,
    ...problemAnswers([...(body ? [400, 413, 415] : []), 401, 403, 404, ...errors, 500, 503]),
  },
});

const one: DescribedAnswer = { description: "The stream", schema: stream };

export const ssfOperations: readonly DescribedOperation[] = [
  {
    ...{ method: "GET", path: "/.well-known/ssf-configuration/oauth/:org", operationId: "ssfConfiguration" },
    ...{ summary: "Get the metadata of the transmitter", tag: "Shared signals", security: [] },
    answers: {
      200: { description: "SSF 1.0 §7.1", schema: metadata },
      304: { description: "Unchanged" },
      ...problemAnswers([404, 500, 503]),
    },
  },
  operation(["POST", STREAMS, "ssfCreateStream", "Create a stream of security events"], {
    ...{ scope: "ssf.manage", body: [newStream, { events_requested: [] }], errors: [409] },
    answer: [201, { description: "The new stream", schema: stream }],
  }),
  operation(["GET", STREAMS, "ssfReadStreams", "Get a stream, or all of the client's"], {
    ...{ scope: "ssf.read", query: Type.Partial(named), errors: [400] },
    answer: [200, { description: "The stream, or a list", schema: Type.Union([stream, Type.Array(stream)]) }],
  }),
  operation(["PATCH", STREAMS, "ssfChangeStream", "Change what the receiver supplies"], {
    ...{ scope: "ssf.manage", body: [changedStream, exampleStream], answer: [200, one] },
  }),
  operation(["PUT", STREAMS, "ssfReplaceStream", "Replace what the receiver supplies"], {
    ...{ scope: "ssf.manage", body: [changedStream, exampleStream], answer: [200, one] },
  }),
  operation(["DELETE", STREAMS, "ssfDeleteStream", "Delete a stream, and what waits for it"], {
    ...{ scope: "ssf.manage", query: named, errors: [400] },
    answer: [204, { description: "Deleted" }],
  }),
  operation(["GET", "/oauth/:org/ssf/status", "ssfReadStatus", "Get whether a stream sends"], {
    ...{ scope: "ssf.read", query: named, errors: [400] },
    answer: [200, { description: "The status", schema: status }],
  }),
  operation(["POST", "/oauth/:org/ssf/status", "ssfChangeStatus", "Enable, pause or disable a stream"], {
    ...{ scope: "ssf.manage", body: [status, { ...exampleStream, status: "paused" }] },
    answer: [200, { description: "The new status", schema: status }],
  }),
  operation(["POST", "/oauth/:org/ssf/subjects/add", "ssfAddSubject", "Tell of a user again"], {
    ...{ scope: "ssf.manage", body: [subject, { ...exampleStream, subject: exampleSubject }] },
    answer: [200, { description: "The same, whether there is such a user or not" }],
  }),
  operation(["POST", "/oauth/:org/ssf/subjects/remove", "ssfRemoveSubject", "Tell nothing of a user"], {
    ...{ scope: "ssf.manage", body: [subject, { ...exampleStream, subject: exampleSubject }] },
    answer: [204, { description: "The same, whether there is such a user or not" }],
  }),
  operation(["POST", "/oauth/:org/ssf/verify", "ssfVerify", "Ask for a verification event"], {
    ...{ scope: "ssf.manage", body: [verification, exampleStream], errors: [429] },
    answer: [204, { description: "It is queued" }],
  }),
  operation(["POST", `${STREAMS}/:streamId/poll`, "ssfPoll", "Fetch events, and acknowledge earlier ones"], {
    ...{ scope: "ssf.read", body: [poll, { returnImmediately: true }] },
    answer: [200, { description: "RFC 8936", schema: polled }],
  }),
];
