/** The trusted roots and allowed endorsement keys on the policy page; CLI commands change them. */
import type { Database } from "../../../db/open.ts";
import { listAllowedEks, listRoots } from "../ek-trust/ek-trust.store.ts";
import { displayHash } from "../ek-trust/trust-file.ts";
import type { TrustList } from "./device-policy.page.ts";

const MAX_ITEMS = 50;

export async function trustLists(
  { database }: { readonly database: Database },
  orgId: string,
): Promise<{ roots: TrustList; eks: TrustList }> {
  const page = { limit: MAX_ITEMS + 1 };
  const roots = (await listRoots(database.query, orgId, page)).map(({ subject, fingerprint, notAfter }) => ({
    name: subject,
    fingerprint: displayHash(fingerprint),
    at: notAfter,
  }));
  const eks = (await listAllowedEks(database.query, orgId, page)).map(({ label, ekHash, createdAt }) => ({
    name: label,
    fingerprint: displayHash(ekHash),
    at: createdAt,
  }));
  return {
    roots: { ...visibleItems(roots), ...commands("device-roots", "import", orgId, "ROOT.pem") },
    eks: { ...visibleItems(eks), ...commands("ek-allow", "add", orgId, "EK.pem") },
  };
}

const visibleItems = (items: TrustList["items"]) => ({
  items: items.slice(0, MAX_ITEMS),
  hasMore: items.length > MAX_ITEMS,
});

const commands = (noun: string, verb: string, orgId: string, file: string) => ({
  addCommand: `signet ${noun} ${verb} --org ${orgId} ${file}`,
  listCommand: `signet ${noun} list --org ${orgId}`,
});
