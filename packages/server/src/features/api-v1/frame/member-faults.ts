/** Faults of a core record as API v1 tells them. */
import { type ApiError, invalid, type MemberFault } from "../../../http/api/api-error.ts";

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
