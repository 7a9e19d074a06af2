/** What an administrator says of a new secret or pair of keys, beside those that work (wire-contract.md §5). */
import Type, { type Static } from "typebox";
import { isSecretLabel } from "../../../core/applications/client-secrets.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { readWireTime } from "../../../http/api/times.ts";

const YEAR_SECONDS = 31_536_000;

export const rotation = Type.Object(
  {
    label: Type.Optional(Type.String({ description: "to tell it from the others; at most 100 characters" })),
    expiresAt: Type.Optional(Type.String({ format: "date-time", description: "never, when left out" })),
    expireOthersInSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: YEAR_SECONDS,
        description: "the others work until they are revoked, when left out",
      }),
    ),
  },
  { additionalProperties: false },
);

export const rotationExample = { label: "autumn", expireOthersInSeconds: 86_400 };

/** @returns `expiresAt` in milliseconds, null for never. @throws ApiError 422 */
export function readRotation(
  { label = "", expiresAt, expireOthersInSeconds }: Static<typeof rotation>,
  now: number,
) {
  if (!isSecretLabel(label))
    throw invalid([{ path: "/label", message: "must be at most 100 plain characters" }]);
  const others = expireOthersInSeconds === undefined ? {} : { expireOthersInSeconds };
  return { label, expiresAt: readExpiry(expiresAt, now), ...others };
}

function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const at = readWireTime(text);
  if (at === undefined || at <= now)
    throw invalid([{ path: "/expiresAt", message: "must be a moment of RFC 3339 in the future" }]);
  return at;
}
