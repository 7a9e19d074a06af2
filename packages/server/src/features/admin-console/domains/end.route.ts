/** domains/{id}/verify and /delete. */
import type { FastifyInstance } from "fastify";
import type { Domain } from "../../../core/domains/domain.ts";
import { lookUpProof, storeProof } from "../../../core/domains/domain-proof.ts";
import { deleteDomain } from "../../../core/domains/domains.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { consolePath } from "../../../page-kit/page.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { DOMAINS, type DomainsDeps, domainPages } from "./domain-pages.ts";

export function domainEndRoutes(app: FastifyInstance, deps: DomainsDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/domains/:id/verify", verification);
  // Last, for it deletes the record: invariants/ submits all forms in this order.
  confirmationRoute(app, deps, "/oauth/manage/:org/domains/:id/delete", deletion);
}

const verification: Confirmation<DomainsDeps, Domain> = {
  ...aboutRecord(domainPages, (domain: Domain) => domain),
  load: domainPages.find,
  question: ({ console: { domains } }, { domain }) => ({
    heading: domains.verify.heading({ name: domain }),
    text: domains.verify.text,
    confirm: domains.proof.lookUp,
    confirmId: "domain-verify-confirm",
    isHarmless: true,
  }),
  // Not in a transaction: a name server may take seconds.
  apply: async (deps, acting, domain) => {
    const answer = await lookUpProof(deps, domain);
    const looked = await storeProof(deps, { ...acting, id: domain.id, answer });
    return looked ? done(looked.lastError === null ? "proven" : "notProven") : alreadyApplied;
  },
};

const deletion: Confirmation<DomainsDeps, Domain> = {
  ...aboutRecord(domainPages, (domain: Domain) => domain),
  load: domainPages.find,
  question: ({ console: { domains } }, { domain }) => ({
    heading: domains.delete.heading({ name: domain }),
    text: domains.delete.text,
    confirm: domains.delete.confirm,
    confirmId: "domain-delete-confirm",
  }),
  apply: async (deps, acting, { id }, { organisation }) =>
    (await deleteDomain(deps, { ...acting, id }))
      ? applied(consolePath(organisation, `${DOMAINS}?done=deleted`))
      : alreadyApplied,
};
