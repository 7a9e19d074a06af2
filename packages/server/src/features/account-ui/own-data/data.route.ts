/** account/data: export and removal. account/data/export: the user's data as a file; needs recent authentication. */

import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import { exportOwnData } from "../../../core/users/data-export/data-export.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { Refusal } from "../../../page-kit/accept-form.ts";
import { redirectTo, show } from "../../../page-kit/page.ts";
import { accountRoute } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFrame,
  accountPath,
  isHomeUser,
  waitRefusal,
} from "../account-page.ts";
import { dataPage } from "./data.page.ts";

export function dataRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/data", {
    show: (_, visit) => showData(deps, visit),
  });
  accountRoute(app, deps, "/oauth/:org/account/data/export", {
    allowsGuests: true,
    // Reauthentication returns here; the user presses the button again.
    show: (_, visit, rejected) =>
      rejected
        ? showData(deps, visit, rejected.refusal)
        : redirectTo(visit, accountPath(visit.organisation, "data")),
    submit: send,
  });
}

async function showData(deps: AccountDeps, visit: AccountVisit, again?: Refusal): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, "data");
  const isHome = isHomeUser(visit);
  const mayDelete = isHome && organisation.settings.allowAccountDeletion;
  const page = dataPage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    exportAction: accountPath(organisation, "data/export"),
    deletionUri: mayDelete ? accountPath(organisation, "deletion") : undefined,
    leaveUri: isHome ? undefined : accountPath(organisation, "leave"),
    failure: again?.failure,
  });
  return show(visit, frame, page, again?.status);
}

async function send(deps: AccountDeps, visit: AccountVisit): Promise<void> {
  const { organisation, user, request, reply } = visit;
  try {
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
    const text = visit.messages.console.account.data;
    return showData(deps, visit, waitRefusal(visit, error, text.notExported, text.limited));
  }
}
