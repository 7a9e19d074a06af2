/** Bodies of a receiver's requests, and the configuration of a stream (SSF 1.0 §8.1.1). */
import { isDeepStrictEqual } from "node:util";
import type { FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import Type from "typebox";
import {
  type EventStream,
  MIN_VERIFICATION_SECONDS,
  POLL,
  PUSH,
} from "../../core/event-streams/event-stream.ts";
import { InvalidStream, type StreamSettings } from "../../core/event-streams/event-streams.ts";
import { supportedEvents } from "../../core/event-streams/security-events.ts";
import { issuerOf } from "../../core/organisations/organisation.ts";
import { ApiError, conflict, malformed } from "../../http/api/api-error.ts";
import { parseJson, rawBody } from "../../http/api/json-body.ts";
import { validator } from "../../http/api/validation.ts";
import { parseQuery } from "../../http/form-body.ts";

const MAX_EVENTS = 50;

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

/** What the receiver supplies; other members are the transmitter's, or of a later version. */
export const suppliedMembers = {
  delivery: Type.Optional(
    Type.Object({
      method: text(100),
      endpoint_url: Type.Optional(Type.Union([text(2_048), Type.Null()])),
      authorization_header: Type.Optional(Type.Union([text(1_000), Type.Null()])),
    }),
  ),
  events_requested: Type.Optional(Type.Array(text(500), { maxItems: MAX_EVENTS })),
  description: Type.Optional(Type.Union([text(500), Type.Null()])),
  format: Type.Optional(Type.Literal("iss_sub")),
};

export type Supplied = Static<ReturnType<typeof suppliedSchema>>;
export const suppliedSchema = () => Type.Object(suppliedMembers);

/** @returns a reader that throws ApiError 400 for what is no such JSON */
export function bodyReader<S extends TSchema>(schema: S): (request: FastifyRequest) => Static<S> {
  const check = validator(schema);
  return (request) => {
    try {
      return check(parseJson(rawBody(request)) ?? {});
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw malformed(error.message === "" ? "The body is not as the specification has it." : error.message);
    }
  };
}

/** The stream that a query names; undefined when it names none. @throws ApiError 400 */
export function streamIdOf(request: FastifyRequest): string | undefined {
  try {
    const { values, repeated } = parseQuery(request);
    if ([...repeated].length === 0) return values.get("stream_id");
  } catch {}
  throw malformed("The query is malformed.");
}

/** Polled when it says nothing of it (§8.1.1.1). */
export function newSettings(body: Supplied): StreamSettings {
  const { method, endpoint_url = null, authorization_header = null } = body.delivery ?? { method: POLL };
  return {
    ...{ method, endpointUrl: endpoint_url, authorizationHeader: authorization_header },
    ...{ eventsRequested: [...new Set(body.events_requested ?? [])], description: body.description ?? null },
  };
}

/** What the body leaves out stays. */
export const changedSettings =
  (body: Supplied) =>
  (before: EventStream): StreamSettings => {
    const { delivery, events_requested: events, description } = body;
    const given = delivery && newSettings(body);
    return {
      method: given?.method ?? before.method,
      endpointUrl: given ? given.endpointUrl : before.endpointUrl,
      ...(delivery?.authorization_header === undefined
        ? {}
        : { authorizationHeader: delivery.authorization_header }),
      eventsRequested: events ? [...new Set(events)] : before.eventsRequested,
      description: description === undefined ? before.description : description,
    };
  };

export function streamRecord(baseUrl: string, stream: EventStream): Record<string, unknown> {
  const { orgId, id, clientId, method, endpointUrl, eventsRequested, description } = stream;
  const issuer = issuerOf(baseUrl, orgId);
  const url = method === PUSH ? endpointUrl : `${issuer}/ssf/streams/${id}/poll`;
  return {
    ...{ stream_id: id, iss: issuer, aud: clientId, delivery: { method, endpoint_url: url } },
    ...{ events_supported: supportedEvents, events_requested: eventsRequested },
    events_delivered: supportedEvents.filter((one) => eventsRequested.includes(one)),
    ...{ format: "iss_sub", min_verification_interval: MIN_VERIFICATION_SECONDS },
    ...(description === null ? {} : { description }),
  };
}

const fixed = ["iss", "aud", "events_supported", "events_delivered", "min_verification_interval"] as const;

/** What the transmitter supplies must be as it is, where a receiver sends it back. @throws ApiError 400 */
export function requireUnchanged(baseUrl: string, stream: EventStream, body: object): void {
  const record = streamRecord(baseUrl, stream);
  const sent = body as Readonly<Record<string, unknown>>;
  const changed = fixed.find(
    // What is delivered follows from what is asked for in the same request.
    (name) =>
      sent[name] !== undefined && name !== "events_delivered" && !isDeepStrictEqual(sent[name], record[name]),
  );
  if (changed !== undefined) throw malformed(`${changed} is the transmitter's and cannot change.`);
}

export function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidStream)) throw error;
  const sentence = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
  if (error.code === "too-many-streams") throw conflict(sentence);
  if (error.code === "pool-signed") throw new ApiError(403, "pool-signed", sentence);
  if (error.code === "too-soon")
    throw new ApiError(429, "rate-limited", sentence, {
      headers: { "retry-after": String(MIN_VERIFICATION_SECONDS) },
    });
  throw malformed(sentence);
}
