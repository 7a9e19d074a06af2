/** account/security/connection?id=…: unlinks a connection that the user signs in by. */
import type { FastifyInstance } from "fastify";
import { listIdentities } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { LastWayIn, unlinkIdentity } from "../../../core/connections/sign-in/unlink-identity.ts";
import { NotFound } from "../../../http/errors.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { Refusal } from "../../../page-kit/accept-form.ts";
import { show } from "../../../page-kit/page.ts";
import { accountRoute, recordPath, requestedId } from "../account-form.ts";
import { type AccountDeps, type AccountVisit, refusal } from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { backToSecurity, changeFrame } from "../change.ts";

export function accountConnectionRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/connection", {
    returnTo: recordPath,
    show: (_, visit, rejected) => askToConfirm(deps, visit, rejected?.refusal),
    submit: unlink,
  });
}

async function unlink(deps: AccountDeps, visit: AccountVisit): Promise<void> {
  const { user, organisation, request, messages } = visit;
  const act = { orgId: organisation.id, actor: `user:${user.id}`, address: addressOf(request) };
  try {
    await unlinkIdentity(deps, { ...act, userId: user.id, connectionId: requestedId(visit) ?? "" });
  } catch (error) {
    if (!(error instanceof LastWayIn)) throw error;
    const { lastWayIn, lastWayInText } = messages.security.identities;
    return askToConfirm(deps, visit, refusal(409, lastWayIn, lastWayInText));
  }
  return backToSecurity(visit, "connectionUnlinked");
}

async function askToConfirm(deps: AccountDeps, visit: AccountVisit, refused?: Refusal): Promise<void> {
  const id = requestedId(visit) ?? "";
  const { orgId, id: userId } = visit.user;
  const all = await listIdentities(deps.database.query, { orgId, userIds: [userId] });
  const identity = all.find((one) => one.connectionId === id);
  if (!identity) throw new NotFound("connection");
  const frame = changeFrame(deps, visit);
  const text = frame.messages.security.identities;
  const page = confirmPage({
    ...frame,
    heading: text.unlinkHeading({ connection: identity.name }),
    text: text.unlinkText({ connection: identity.name }),
    confirm: text.unlink,
    fields: [{ name: "id", value: id }],
    failure: refused?.failure,
  });
  return show(visit, frame, page, refused?.status);
}
