/** Streams of security events as API v1 shows them. */
import Type from "typebox";
import {
  deliveryMethods,
  type EventStream,
  streamStatuses,
} from "../../../core/event-streams/event-stream.ts";
import { wireTime } from "../../../http/api/times.ts";
import { patchSchema } from "../frame/patch-schema.ts";

const time = Type.String({ format: "date-time" });
const textOrNull = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Null()], { description });

const status = Type.Enum([...streamStatuses], {
  description: "`paused` holds events, `disabled` neither sends nor holds any",
});

/** Null unsets the reason. */
export const streamPatch = patchSchema(
  {
    status,
    statusReason: Type.String({ minLength: 1, maxLength: 500, description: "Told to the receiver" }),
  },
  { title: "ApiEventStreamChange" },
);

export const streamSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    clientId: Type.String({ format: "uuid", description: "The application that receives the events" }),
    ...{ status, statusReason: textOrNull("Of whoever set the status") },
    method: Type.Enum([...deliveryMethods], { description: "Pushed (RFC 8935) or polled (RFC 8936)" }),
    endpointUrl: Type.Union([Type.String(), Type.Null()], { description: "Where events are pushed" }),
    eventsRequested: Type.Array(Type.String(), {
      description: "Event types, also such as are not supported",
    }),
    description: textOrNull("By the receiver"),
    ...{ createdAt: time, updatedAt: time },
  },
  { title: "ApiEventStream" },
);

export const streamRecord = (stream: EventStream) => ({
  ...{ id: stream.id, clientId: stream.clientId },
  ...{ status: stream.status, statusReason: stream.statusReason },
  ...{ method: stream.method, endpointUrl: stream.endpointUrl },
  ...{ eventsRequested: stream.eventsRequested, description: stream.description },
  ...{ createdAt: wireTime(stream.createdAt), updatedAt: wireTime(stream.updatedAt) },
});
