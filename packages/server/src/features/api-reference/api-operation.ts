/** What the JSON interfaces' routes say of themselves, with what all of them have in common. */
import type { Credential, Operation } from "../../http/api/api-route.ts";
import {
  type DescribedOperation,
  oauthErrorAnswers,
  problemAnswers,
} from "../../http/api/described-operation.ts";

const securityOf: Readonly<Record<Credential, DescribedOperation["security"]>> = {
  administrator: [["administratorAccount"]],
  "system-account": [["systemAccount"]],
  "session-key": [["sessionKey"], ["sessionKey", "systemAccount"]],
  link: [],
  "device-certificate": [["deviceCertificate"]],
  none: [],
};

const credentialTexts: Partial<Readonly<Record<Credential, string>>> = {
  "session-key":
    "The session key is the credential. A signature of a system account may come along and is then checked; some applications demand it.",
  link: "What the link of a mail holds is the credential. Who sends neither a signature nor `Accept: application/json` is taken for a browser.",
};

const STRICT_ONLY = "The signature must be of the strict form.";

export function describedOperation(operation: Operation): DescribedOperation {
  const { method, path, operationId, summary, tag, credential, query, body, example, answers } = operation;
  const strictText = operation.isStrictOnly ? STRICT_ONLY : undefined;
  const description = [operation.description, strictText, credentialTexts[credential]]
    .filter((text) => text !== undefined)
    .join(" ");
  return {
    method,
    path,
    operationId,
    summary,
    ...(description === "" ? {} : { description }),
    tag,
    security: securityOf[credential],
    ...(query ? { query } : {}),
    isStrictOnly: operation.isStrictOnly ?? false,
    hasPage: credential === "link" && method === "GET",
    headers: headersOf(operation),
    ...(body
      ? {
          body: {
            contentType: "application/json",
            schema: body,
            isOptional: operation.bodyOptional ?? false,
            ...(example === undefined ? {} : { example }),
          },
        }
      : {}),
    answers: { ...errorAnswersOf(operation), ...answers },
  };
}

function errorAnswersOf(operation: Operation): DescribedOperation["answers"] {
  const { method, errors = [], errorForm } = operation;
  if (errorForm === undefined) return problemAnswers(errorsOf(operation));
  return oauthErrorAnswers([
    ...[400, 401, 403, 404],
    ...(method === "GET" ? [] : [413, 415]),
    ...errors,
    ...[500, 503],
  ]);
}

function headersOf({ method, credential, path, errorForm }: Operation): Record<string, string> {
  if (credential !== "administrator") return {};
  if (method === "POST") return { "Idempotency-Key": "for a day the same answer again, without its secrets" };
  const isChange = (method === "PUT" || method === "DELETE") && path.includes("/:") && !errorForm;
  return isChange ? { "If-Match": "the `ETag` of the record as it was read" } : {};
}

/** Those that every route of its kind has; more are named by the route itself. */
function errorsOf({ method, path, credential, errors = [] }: Operation): number[] {
  const isChange = method === "PUT" || method === "DELETE";
  return [
    400,
    ...(credential === "none" ? [] : [401]),
    ...(path.includes("/:") ? [404] : []),
    ...(method === "POST" && credential === "administrator" ? [409] : []),
    ...(isChange && credential === "administrator" ? [409, 412] : []),
    ...(method === "GET" ? [] : [413, 415]),
    422,
    ...errors,
    500,
    503,
  ];
}
