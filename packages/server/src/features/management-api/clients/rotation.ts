/** The settings of a new client secret or key pair (wire-contract.md §5). */
import Type, { type Static } from "typebox";
import { isSecretLabel } from "../../../core/applications/client-secrets.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { readWireTime } from "../../../http/api/times.ts";

const YEAR_SECONDS = 31_536_000;

export const rotation = Type.Object(
  {
    label: Type.Optional(Type.String({ description: "At most 100 characters" })),
    expiresAt: Type.Optional(Type.String({ format: "date-time", description: "Default: never" })),
    expireOthersInSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: YEAR_SECONDS,
        description: "Expires the existing ones; default: they stay active until revoked",
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
    throw invalid([{ path: "/label", message: "must be at most 100 characters without control characters" }]);
  const others = expireOthersInSeconds === undefined ? {} : { expireOthersInSeconds };
  return { label, expiresAt: readExpiry(expiresAt, now), ...others };
}

function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const at = readWireTime(text);
  if (at === undefined || at <= now)
    throw invalid([{ path: "/expiresAt", message: "must be an RFC 3339 date-time in the future" }]);
  return at;
}
