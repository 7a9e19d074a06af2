/** `If-Match` of a part of an organisation's settings, held against it as it is in the transaction that changes it. */
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import type { Db } from "../../../db/open.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiRequest } from "../../../http/api/api-route.ts";
import { requireTag } from "../../../http/api/concurrency.ts";
import type { ApiCaller } from "../access.ts";
import { tagOf } from "../frame/entity-tag.ts";

/** The organisation stays locked until the transaction ends. @throws ApiError 412, 404 */
export async function requireAsRead(
  tx: Db,
  { organisation: { id } }: ApiCaller,
  request: ApiRequest,
  record: (organisation: Organisation) => object,
): Promise<void> {
  if (request.headers["if-match"] === undefined) return;
  const before = await lockOrganisation(tx, id);
  if (!before) throw notFound();
  requireTag(request, tagOf(record(before)));
}
