/** By whichever operation the sign-in methods are changed. */
import { type SignInMethod, worksWithoutMail } from "../../../core/organisations/sign-in-methods.ts";
import { invalid } from "../../../http/api/api-error.ts";
import type { ApiDeps } from "../frame/api-deps.ts";

/** @throws ApiError 422 at `path`, where emails would take the place of passwords, and none can be sent */
export function requireWayIn(
  { outbox }: Pick<ApiDeps, "outbox">,
  path: string,
  signInMethods: readonly SignInMethod[] | undefined,
): void {
  if (outbox.isOpen || signInMethods === undefined || worksWithoutMail({ signInMethods })) return;
  throw invalid([{ path, message: "needs password: this server can't send email" }]);
}
