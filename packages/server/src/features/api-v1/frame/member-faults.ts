/** Faults of a core record as API v1 tells them. */
import { type ApiError, conflict, invalid, type MemberFault, notFound } from "../../../http/api/api-error.ts";
import { CodedError } from "../../../http/coded-error.ts";

/** As JSON Pointers (RFC 6901): `claims[0].name` becomes `/claims/0/name`. @param wireName of the first member */
export function invalidMembers(
  faults: readonly MemberFault[],
  wireName = (member: string): string => member,
): ApiError {
  return invalid(
    faults.map(({ path, message }) => {
      const [member = "", ...rest] = path.replaceAll(/\[(\d+)\]/g, ".$1").split(".");
      return { path: `/${[wireName(member), ...rest].join("/")}`, message };
    }),
  );
}

/** A member of the body names a record that the organisation has not (api-v1.md, "Foreign"). @param path a JSON Pointer */
export const unknownReference = (path: string): ApiError =>
  invalid([{ path, message: "names nothing in this organisation" }]);

/**
 * Of rules that the endpoints of devices and of signing share: their faults begin with the member that they are about.
 * @param members of the body; a fault of anything else is of the whole
 * @param within where the rules see the body in a larger one
 */
export function codedAnswer(error: unknown, members: readonly string[], within = ""): never {
  if (!(error instanceof CodedError)) throw error;
  const { status } = error;
  const isWithin = within !== "" && error.message.startsWith(within);
  const message = isWithin ? error.message.slice(within.length).replace(/^[.:] ?/, "") : error.message;
  if (status === 404) throw notFound();
  if (status === 409) throw conflict(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  const [, member = "", rest = "", text = ""] = /^(\w+)((?:\[\d+\]|\.\w+)*):? (.+)$/.exec(message) ?? [];
  if (!members.includes(member)) throw invalid([{ path: "", message }]);
  throw invalidMembers([{ path: `${member}${rest}`, message: text }]);
}
