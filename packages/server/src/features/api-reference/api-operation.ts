/** Describes an `apiRoute` operation, with the headers, credentials and errors that all of them share. */
import Type, { type TSchema } from "typebox";
import type { Credential, Operation } from "../../http/api/api-route.ts";
import {
  type DescribedOperation,
  oauthErrorAnswers,
  problemAnswers,
} from "../../http/api/described-operation.ts";
import { type StrictFormRule, strictFormRule } from "../../http/api/strict-form.ts";

const securityByCredential: Readonly<Record<Credential, DescribedOperation["security"]>> = {
  administrator: [["administratorAccount"]],
  "system-account": [["systemAccount"]],
  "access-token": [["apiToken"]],
  "session-key": [["sessionKey"], ["sessionKey", "systemAccount"]],
  link: [],
  "device-certificate": [["deviceCertificate"]],
  none: [],
};

const credentialTexts: Partial<Readonly<Record<Credential, string>>> = {
  "session-key":
    "The session key is the credential. A system account's signature is optional and verified if present; some applications require it.",
  link: "The token from the email link is the credential. A request with neither a signature nor `Accept: application/json` is treated as a browser's.",
};

const strictNotes: Readonly<Record<StrictFormRule, string | undefined>> = {
  always: "Requires the strict form of the signature.",
  "without-content": "Requires the strict form of the signature if the body is empty.",
  never: undefined,
};

export function describeApiOperation(operation: Operation): DescribedOperation {
  const { method, path, operationId, summary, tag, credential, query, body, example, answers } = operation;
  const strictForm = strictFormRule(operation);
  const description = [operation.description, strictNotes[strictForm], credentialTexts[credential]]
    .filter((text) => text !== undefined)
    .join(" ");
  return {
    method,
    path,
    operationId,
    summary,
    ...(description === "" ? {} : { description }),
    tag,
    security: securityByCredential[credential],
    ...(query ? { query } : {}),
    isStrictOnly: strictForm === "always",
    hasPage: credential === "link" && method === "GET",
    headers: { ...conditionalHeaders(operation), ...operation.headers },
    ...(body
      ? {
          body: {
            contentType: "application/json",
            schema: operation.lenient ? withNulls(body) : body,
            isOptional: operation.bodyOptional ?? false,
            ...(example === undefined ? {} : { example }),
          },
        }
      : {}),
    answers: { ...errorAnswers(operation), ...answers },
  };
}

/** Where null counts as absent, an optional member may be null. */
function withNulls(body: TSchema): TSchema {
  const { properties = {}, required = [] } = body as { properties?: TSchemas; required?: string[] };
  const orNull = ([name, schema]: [string, TSchema]) => {
    if (required.includes(name)) return [name, schema];
    const { description, ...value } = schema as TSchema & { description?: string };
    return [name, Type.Union([value, Type.Null()], description === undefined ? {} : { description })];
  };
  return { ...body, properties: Object.fromEntries(Object.entries(properties).map(orNull)) };
}

type TSchemas = Readonly<Record<string, TSchema>>;

function errorAnswers(operation: Operation): DescribedOperation["answers"] {
  const { method, errors = [], errorForm } = operation;
  if (errorForm === undefined) return problemAnswers(problemStatuses(operation));
  return oauthErrorAnswers([
    ...[400, 401, 403, 404],
    ...(method === "GET" ? [] : [413, 415]),
    ...errors,
    ...[500, 503],
  ]);
}

function conditionalHeaders({ method, credential, path, errorForm }: Operation): Record<string, string> {
  if (credential === "access-token" && method === "GET")
    return { "If-None-Match": "the `ETag` of the record: 304 if it has not changed" };
  if (credential !== "administrator" && credential !== "access-token") return {};
  if (method === "POST")
    return {
      "Idempotency-Key": "a repeated request gets the same response for 24 hours, without its secrets",
    };
  const isChange = changes.includes(method) && path.includes("/:") && !errorForm;
  return isChange ? { "If-Match": "the `ETag` of the record when it was read" } : {};
}

const changes: ReadonlyArray<Operation["method"]> = ["PUT", "PATCH", "DELETE"];

/** The statuses shared by routes of this kind, and the operation's own. */
function problemStatuses({ method, path, credential, errors = [] }: Operation): number[] {
  const isChange = changes.includes(method);
  const isVersioned = credential === "administrator" || credential === "access-token";
  return [
    400,
    ...(credential === "none" ? [] : [401]),
    ...(credential === "access-token" ? [403, 429] : []),
    ...(path.includes("/:") ? [404] : []),
    ...(method === "POST" && isVersioned ? [409] : []),
    ...(isChange && isVersioned ? [409, 412] : []),
    ...(method === "GET" ? [] : [413, 415]),
    422,
    ...errors,
    500,
    503,
  ];
}
