/** CIBA grant, poll mode (OpenID Connect CIBA Core 1.0 §10.1). */
import { cibaGrantType } from "../../../core/applications/application.ts";
import {
  findByAuthReqId,
  markRequestUsed,
  recordRequestPoll,
} from "../../../core/ciba-requests/ciba-requests.store.ts";
import type { Grant } from "./grant.ts";
import { type PolledGrantDeps, polledGrant } from "./polled-grant.ts";

export const cibaGrant = (deps: PolledGrantDeps): Grant =>
  polledGrant(deps, {
    grantType: cibaGrantType,
    parameter: "auth_req_id",
    noun: "authentication request",
    replayAction: "ciba-request.replayed",
    find: async (db, orgId, hash) => {
      const found = await findByAuthReqId(db, orgId, hash);
      return found && { ...found, hash };
    },
    recordPoll: (db, { hash, ...key }) => recordRequestPoll(db, { ...key, requestHash: hash }),
    markUsed: (db, { hash, ...key }) => markRequestUsed(db, { ...key, requestHash: hash }),
  });
