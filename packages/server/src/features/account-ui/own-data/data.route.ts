/** account/data: export and removal. account/data/export: the user's data as a file; needs recent authentication. */

import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { exportOwnData } from "../../../core/users/data-export/data-export.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  isHomeUser,
  requireRecentSignIn,
  requireSignedIn,
  setRetryAfter,
} from "../account-page.ts";
import { dataPage, type YourDataView } from "./data.page.ts";

const DATA = "data";
const EXPORT = "data/export";

export function dataRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/data", {
    get: async (visit) => {
      const signedIn = await requireSignedIn(deps, visit, accountPath(visit.organisation, DATA));
      await showData(deps, visit, signedIn);
    },
  });
  accountRoute(app, deps, "/oauth/:org/account/data/export", {
    // Reauthentication returns here; the user presses the button again.
    get: async (visit) => {
      const path = accountPath(visit.organisation, EXPORT);
      await requireRecentSignIn(deps, visit, path, { allowsGuests: true });
      await redirectTo(visit, accountPath(visit.organisation, DATA));
    },
    post: (visit) => send(deps, visit),
  });
}

async function showData(
  deps: AccountDeps,
  visit: Visit,
  { user }: SignedIn,
  failure?: YourDataView["failure"],
  status = 200,
): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "data");
  const isHome = isHomeUser(organisation, user);
  const mayDelete = isHome && organisation.settings.allowAccountDeletion;
  const page = dataPage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    exportAction: accountPath(organisation, EXPORT),
    deletionUri: mayDelete ? accountPath(organisation, "deletion") : undefined,
    leaveUri: isHome ? undefined : accountPath(organisation, "leave"),
    failure,
  });
  return show(visit, frame, page, status);
}

async function send(deps: AccountDeps, visit: Visit): Promise<void> {
  const { organisation, request, reply } = visit;
  const path = accountPath(organisation, EXPORT);
  const form = await acceptAccountForm(deps, visit, path, { allowsGuests: true });
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  if (form.outcome === "rejected") return showData(deps, visit, signedIn, form.refusal.failure?.kind, 403);
  try {
    const { user } = signedIn;
    const pieces = await exportOwnData(deps, { organisation, user, address: addressOf(request) });
    await reply
      .headers({
        "cache-control": "no-store",
        "content-disposition": 'attachment; filename="signet-account-data.json"',
        "x-content-type-options": "nosniff",
      })
      .type("application/json; charset=utf-8")
      .send(Readable.from(pieces, { objectMode: false }));
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    setRetryAfter(visit, error);
    return showData(deps, visit, signedIn, { waitSeconds: error.retryAfterSeconds }, 429);
  }
}
